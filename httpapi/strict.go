package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"bakeoff/service"
)

var bom = []byte("\xef\xbb\xbf")

// TrimBOM cuts the byte-order mark that some editors put before JSON.
func TrimBOM(b []byte) []byte { return bytes.TrimPrefix(b, bom) }

// decodeStd reads one message with encoding/json, and is stricter: what is not UTF-8 is refused, not replaced, and
// so is a name that an object has twice, and null for the message or one of its fields. An error is InvalidArgument and
// names line and byte.
func decodeStd(b []byte, v any) error {
	if !utf8.Valid(b) {
		at := invalidUTF8(b)
		return badJSON(b, at, "not valid UTF-8")
	}
	if err := json.Unmarshal(b, v); err != nil {
		return explain(b, err)
	}
	if name, at := duplicate(b); at >= 0 {
		return badJSON(b, at, fmt.Sprintf("the name %s stands twice in one object", quoteShort(name)))
	}
	if field, at := findNull(b, v); at >= 0 {
		return badJSON(b, at, field+" cannot be null: "+nullMend(field))
	}
	return nil
}

// explain turns an error of encoding/json into one that names the place.
func explain(b []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		// The offset counts the bytes read, the faulty one included; where the text ends too early, it is the end.
		at := int(syntax.Offset) - 1
		if strings.HasPrefix(syntax.Error(), "unexpected end") {
			at = len(b)
		}
		return badJSON(b, at, syntax.Error())
	case errors.As(err, &kind):
		field := kind.Field
		if field == "" {
			field = theMessage
		}
		at := int(kind.Offset)
		if at == 0 { // from wholeNumber, which is not told where it is
			at = -1
		}
		return badJSON(b, at, fmt.Sprintf("%s cannot be %s", field, kind.Value))
	}
	return badJSON(b, -1, err.Error())
}

// badJSON is the error of bytes that are no message. at is the offset of the fault in b, negative if not known.
func badJSON(b []byte, at int, why string) error {
	if at < 0 {
		return service.Errorf(service.InvalidArgument, "the JSON is not as expected: %s", why)
	}
	at = min(at, len(b))
	line := 1 + bytes.Count(b[:at], []byte{'\n'})
	column := at - bytes.LastIndexByte(b[:at], '\n')
	return service.Errorf(service.InvalidArgument, "the JSON is not as expected: line %d, byte %d: %s", line, column, why)
}

func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// duplicate finds a name that stands twice in one object of valid JSON, and where; -1 is none.
func duplicate(b []byte) (name string, at int) {
	if plainlyUnique(b) {
		return "", -1
	}
	return findDuplicate(b)
}

// plainlyUnique says yes only where no object has a name twice, and says so of nearly all messages, each time a
// request is read: it knows a name of an object by one bit. Escapes, deep nesting and two names of one bit are for
// findDuplicate.
func plainlyUnique(b []byte) bool {
	if bytes.IndexByte(b, '\\') >= 0 {
		return false
	}
	var seen [8]uint64 // of each object and array that is open
	depth := -1
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth == len(seen) {
				return false
			}
			seen[depth] = 0
		case '}', ']':
			depth--
		case '"':
			key := b[i+1:]
			key = key[:bytes.IndexByte(key, '"')]
			i += len(key) + 1
			if !beforeColon(b, i+1) {
				continue
			}
			bit := uint64(1) << (nameHash(key) % 64)
			if seen[depth]&bit != 0 {
				return false
			}
			seen[depth] |= bit
		}
	}
	return true
}

// nameHash tells the names of our messages apart.
func nameHash(key []byte) int {
	if len(key) == 0 {
		return 0
	}
	return int(key[0]) + 3*int(key[len(key)-1]) + 7*len(key)
}

// beforeColon says whether what ends before b[i] is a name and not a value.
func beforeColon(b []byte, i int) bool {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i < len(b) && b[i] == ':'
}

// findDuplicate is duplicate for any names. It allocates only for escaped names, and for objects that are many or
// have many names.
func findDuplicate(b []byte) (name string, at int) {
	var roomNames [24][]byte
	var roomOpen [8]object
	names := roomNames[:0] // of all open objects, one after another
	open := roomOpen[:0]   // objects and arrays
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			open = append(open, object{first: len(names)})
		case '}', ']':
			names = names[:open[len(open)-1].first]
			open = open[:len(open)-1]
		case '"':
			start := i
			escaped := false
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					escaped = true
					i++
				}
			}
			if !beforeColon(b, i+1) {
				continue // a value
			}
			key := b[start+1 : i]
			if escaped {
				var s string
				if json.Unmarshal(b[start:i+1], &s) == nil {
					key = []byte(s)
				}
			}
			o := &open[len(open)-1]
			if o.has(names[o.first:], key) {
				return string(key), start
			}
			names = append(names, key)
		}
	}
	return "", -1
}

// fewNames is how many names of one object are compared one with another; an object with more takes a map.
const fewNames = 16

// object is an open object: where its names begin, and all of them once they are many.
type object struct {
	first int
	many  map[string]struct{}
}

// has says whether key is among the names that the object had so far.
func (o *object) has(names [][]byte, key []byte) bool {
	if len(names) < fewNames {
		for _, k := range names {
			if bytes.Equal(k, key) {
				return true
			}
		}
		return false
	}
	if o.many == nil {
		o.many = make(map[string]struct{}, 2*fewNames)
		for _, k := range names {
			o.many[string(k)] = struct{}{}
		}
	}
	_, known := o.many[string(key)]
	o.many[string(key)] = struct{}{}
	return known
}

// checkText refuses a string that JSON cannot carry as it is.
func checkText(field, s string) error {
	if utf8.ValidString(s) {
		return nil
	}
	return service.Errorf(service.InvalidArgument, "%s is not valid UTF-8", field)
}
