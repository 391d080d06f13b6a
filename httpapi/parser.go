package httpapi

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"bakeoff/service"
)

// parser reads JSON of the plain shape. After the first thing that it does not expect it is failed: everything
// then returns zero and done says no. The strings that it returns are parts of s: a message costs one allocation,
// and what keeps one of its strings keeps them all.
type parser struct {
	s      string
	i      int
	failed bool
}

func (p *parser) fail() { p.failed = true }

// space skips white space.
func (p *parser) space() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\n' || p.s[p.i] == '\r') {
		p.i++
	}
}

// take skips white space, then the byte c if it is there.
func (p *parser) take(c byte) bool {
	p.space()
	if p.i == len(p.s) || p.s[p.i] != c {
		return false
	}
	p.i++
	return true
}

// begin opens an object and returns its first name; more is false where it has none.
func (p *parser) begin() (name string, more bool) {
	if p.failed || !p.take('{') {
		p.fail()
		return "", false
	}
	if p.take('}') {
		return "", false
	}
	return p.name()
}

// next returns the following name of the object; more is false at its end.
func (p *parser) next() (name string, more bool) {
	if p.failed || p.take('}') {
		return "", false
	}
	if !p.take(',') {
		p.fail()
		return "", false
	}
	return p.name()
}

func (p *parser) name() (string, bool) {
	name := p.text()
	if p.failed || !p.take(':') {
		p.fail()
		return "", false
	}
	return name, true
}

// once fails at a name that was there before.
func (p *parser) once(seen *int, bit int) {
	if *seen&bit != 0 {
		p.fail()
	}
	*seen |= bit
}

// text reads a string without escapes.
func (p *parser) text() string {
	if p.failed || !p.take('"') {
		p.fail()
		return ""
	}
	rest := p.s[p.i:]
	n := strings.IndexByte(rest, '"')
	if n < 0 {
		p.fail()
		return ""
	}
	s := rest[:n]
	ascii := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c == '\\' {
			p.fail()
			return ""
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && !utf8.ValidString(s) {
		p.fail()
		return ""
	}
	p.i += n + 1
	return s
}

// base64 reads bytes in standard base64 with its padding.
func (p *parser) base64() []byte {
	s := p.text()
	if s == "" {
		return nil
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil { // another alphabet, no padding, or no base64
		p.fail()
	}
	return b
}

// number reads a whole number as JSON writes it.
func (p *parser) number(bits int) int64 {
	p.space()
	start := p.i
	if p.i < len(p.s) && p.s[p.i] == '-' {
		p.i++
	}
	digits := p.i
	for p.i < len(p.s) && p.s[p.i]-'0' <= 9 {
		p.i++
	}
	if p.failed || p.i == digits || p.s[digits] == '0' && p.i > digits+1 {
		p.fail()
		return 0
	}
	// What may follow a number is checked by next: a fraction or an exponent is neither comma nor brace.
	n, err := strconv.ParseInt(p.s[start:p.i], 10, bits)
	if err != nil {
		p.fail()
	}
	return n
}

func (p *parser) point() (v service.Point) {
	var seen int
	for name, more := p.begin(); more; name, more = p.next() {
		switch name {
		case "latitude":
			p.once(&seen, 1)
			v.Latitude = int32(p.number(32))
		case "longitude":
			p.once(&seen, 2)
			v.Longitude = int32(p.number(32))
		default:
			p.fail()
		}
	}
	return v
}

// done says whether all went well and nothing but white space is left.
func (p *parser) done() bool {
	p.space()
	return !p.failed && p.i == len(p.s)
}
