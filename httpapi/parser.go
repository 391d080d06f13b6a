package httpapi

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"bakeoff/service"
)

// parser reads JSON of the plain shape. After the first thing that it does not expect it is failed: everything
// then returns zero and done says no.
type parser struct {
	b      []byte
	i      int
	failed bool
}

func (p *parser) fail() { p.failed = true }

// space skips white space.
func (p *parser) space() {
	for p.i < len(p.b) && (p.b[p.i] == ' ' || p.b[p.i] == '\t' || p.b[p.i] == '\n' || p.b[p.i] == '\r') {
		p.i++
	}
}

// take skips white space, then the byte c if it is there.
func (p *parser) take(c byte) bool {
	p.space()
	if p.i == len(p.b) || p.b[p.i] != c {
		return false
	}
	p.i++
	return true
}

// begin opens an object and returns its first name; nil where it is empty or there is none.
func (p *parser) begin() []byte {
	if p.failed || !p.take('{') {
		p.fail()
		return nil
	}
	if p.take('}') {
		return nil
	}
	return p.name()
}

// next returns the following name of the object; nil at its end.
func (p *parser) next() []byte {
	if p.failed || p.take('}') {
		return nil
	}
	if !p.take(',') {
		p.fail()
		return nil
	}
	return p.name()
}

func (p *parser) name() []byte {
	name := p.raw()
	if p.failed || !p.take(':') {
		p.fail()
		return nil
	}
	if name == nil {
		return []byte{}
	}
	return name
}

// once fails at a name that was there before.
func (p *parser) once(seen *int, bit int) {
	if *seen&bit != 0 {
		p.fail()
	}
	*seen |= bit
}

// raw reads a string without escapes and returns what is between the quotes.
func (p *parser) raw() []byte {
	if p.failed || !p.take('"') {
		p.fail()
		return nil
	}
	rest := p.b[p.i:]
	n := bytes.IndexByte(rest, '"')
	if n < 0 {
		p.fail()
		return nil
	}
	s := rest[:n]
	ascii := true
	for _, c := range s {
		if c < ' ' || c == '\\' {
			p.fail()
			return nil
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(s) {
		p.fail()
		return nil
	}
	p.i += n + 1
	return s
}

func (p *parser) text() string { return string(p.raw()) }

// number reads a whole number as JSON writes it.
func (p *parser) number(bits int) int64 {
	p.space()
	start := p.i
	if p.i < len(p.b) && p.b[p.i] == '-' {
		p.i++
	}
	digits := p.i
	for p.i < len(p.b) && p.b[p.i]-'0' <= 9 {
		p.i++
	}
	if p.failed || p.i == digits || p.b[digits] == '0' && p.i > digits+1 {
		p.fail()
		return 0
	}
	// What may follow a number is checked by next: a fraction or an exponent is neither comma nor brace.
	n, err := strconv.ParseInt(string(p.b[start:p.i]), 10, bits)
	if err != nil {
		p.fail()
	}
	return n
}

func (p *parser) point() (v service.Point) {
	var seen int
	for name := p.begin(); name != nil; name = p.next() {
		switch string(name) {
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
	return !p.failed && p.i == len(p.b)
}
