package httpapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// theMessage is what errors call the message itself, where they call a field by its path.
const theMessage = "the message"

// findNull finds a null where the message v or one of its fields belongs, in valid JSON that was read into v, and where
// it is; -1 is none. encoding/json takes null for nothing said; what proto3 and Thrift take for that is an absent field.
// Unknown fields may be null, and so may the members of a problem, which may be anybody's.
func findNull(b []byte, v any) (field string, at int) {
	if !bytes.Contains(b, null) {
		return "", -1 // nearly all messages
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // as a float some would not be read
	return nullIn(d, reflect.TypeOf(v).Elem(), "")
}

var null = []byte("null")

// nullIn looks in the value that d reads next, into a t; nil is whatever nobody knows.
func nullIn(d *json.Decoder, t reflect.Type, path string) (field string, at int) {
	field, at = "", -1
	token, err := d.Token()
	if err != nil { // valid JSON has none
		return field, at
	}
	switch token {
	case nil:
		if t == nil {
			return field, at
		}
		if path == "" {
			path = theMessage
		}
		return path, int(d.InputOffset()) - len(null)
	case json.Delim('{'), json.Delim('['):
	default:
		return field, at
	}
	for at < 0 && d.More() {
		var child reflect.Type
		name := ""
		if token == json.Delim('{') {
			key, _ := d.Token()
			name, _ = key.(string)
			child = fieldOf(t, name)
		}
		field, at = nullIn(d, child, strings.TrimPrefix(path+"."+name, "."))
	}
	_, _ = d.Token() // the end; after a null nobody reads on
	return field, at
}

// fieldOf is the type of the field that encoding/json reads into under that name, or nil.
func fieldOf(t reflect.Type, name string) reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !strings.EqualFold(f.Tag.Get("json"), name) {
			continue
		}
		if f.Type == reflect.TypeFor[*Problem]() {
			return reflect.TypeFor[bool]() // it must be there, and is not looked into
		}
		return f.Type
	}
	return nil
}

// nullMend says what to write instead.
func nullMend(field string) string {
	if field == theMessage {
		return "{} is the message of zeros"
	}
	return "leave it out for its zero"
}
