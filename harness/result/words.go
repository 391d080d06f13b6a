package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

// What mends a line that no run wrote.
const (
	mendTrial  = "the line was changed, or written by something else than 'bakeoff run': remove the line"
	mendHeader = "the first line was changed, or written by something else than 'bakeoff run': restore the first line"
)

// Refuse is the error of a trial whose line can't be used: which one it is, what is wrong with it, and what mends that.
func (t Trial) Refuse(err error) error {
	if t.Subject == "" && t.Round == 0 {
		return fmt.Errorf("%w: %s", err, mendTrial)
	}
	return fmt.Errorf("%s: %w: %s", t.called(), err, mendTrial)
}

// Refuse is the error of a header that can't be used.
func (h Header) Refuse(err error) error { return fmt.Errorf("the header: %w: %s", err, mendHeader) }

// called is what a trial goes by in errors, as far as it is known.
func (t Trial) called() string {
	switch {
	case t.Subject == "":
		return fmt.Sprintf("a trial of round %d", t.Round)
	case t.Round == 0:
		return "a trial of " + t.Subject
	}
	return fmt.Sprintf("a trial of %s, round %d", t.Subject, t.Round)
}

// inWords says what is wrong with the JSON of a line as one sees it who looks at the file: encoding/json speaks of Go's types.
func inWords(line []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var moment *time.ParseError
	switch {
	case errors.As(err, &syntax):
		return &wordError{syntaxWords(line, syntax), err}
	case errors.As(err, &kind):
		return &wordError{kindWords(kind), err}
	case errors.As(err, &moment):
		return &wordError{fmt.Sprintf("\"started\" is %.60q: want %s", moment.Value, wantTime), err}
	}
	return &wordError{`"started" is no text: want ` + wantTime, err} // nothing else reads itself
}

const wantTime = `a time such as "2026-01-02T15:04:05Z"`

// wordError is an error of encoding/json in other words.
type wordError struct {
	text string
	err  error
}

func (e *wordError) Error() string { return e.text }

func (e *wordError) Unwrap() error { return e.err }

// syntaxes are the ends of the messages of encoding/json, and what they mean.
var syntaxes = []struct{ message, words string }{
	{"looking for beginning of value", "where a value is to begin"},
	{"looking for beginning of object key string", "where a name in quotes is to stand"},
	{"after object key:value pair", "where a comma or the closing } is to stand"},
	{"after object key", "where a colon is to stand"},
	{"after array element", "where a comma or the closing ] is to stand"},
	{"after top-level value", "behind the end of the JSON object: one stands on a line"},
	{"in string escape code", `behind a \ in a text`},
	{"hexadecimal character escape", `where a digit of \u is to stand`},
	{"in string", "in a text, where it can't stand"},
	{"numeric", "in a number"},
	{"in literal", "in what is to be true, false or null"},
}

func syntaxWords(line []byte, err *json.SyntaxError) string {
	message := err.Error()
	switch {
	case stopsEarly(err):
		return "the line stops in the middle"
	case strings.Contains(message, "max depth"):
		return "the line is nested too deeply"
	}
	has := "what it has"
	if at := err.Offset - 1; at >= 0 && at < int64(len(line)) {
		r, _ := utf8.DecodeRune(line[at:])
		has = fmt.Sprintf("it has %q", r)
	}
	for _, s := range syntaxes {
		if strings.Contains(message, s.message) {
			return fmt.Sprintf("the line is no JSON: %s %s", has, s.words)
		}
	}
	return fmt.Sprintf("the line is no JSON: %s, where it can't stand", has)
}

func stopsEarly(err *json.SyntaxError) bool {
	return strings.Contains(err.Error(), "unexpected end of JSON input")
}

// kinds are what encoding/json calls the kinds of values, and what they are.
var kinds = map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}

func kindWords(err *json.UnmarshalTypeError) string {
	has, ok := kinds[err.Value]
	if !ok {
		has = strings.TrimPrefix(err.Value, "number ") // comes with its digits where it does not fit
		has = fmt.Sprintf("%.60s", has)
	}
	what := "the line"
	if err.Field != "" {
		what = fmt.Sprintf("%q", err.Field)
	}
	return fmt.Sprintf("%s is %s: want %s", what, has, wantKind(err.Type))
}

// wantKind is what a value of a Go type is in JSON.
func wantKind(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wantKind(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number that fits in 64 bits"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64))
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "an object"
}
