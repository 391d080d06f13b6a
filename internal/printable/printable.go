// Package printable makes text of unknown origin safe to show: names and messages come from files and from other processes, and may hold
// what moves the cursor of a terminal, recolours its screen or turns the direction of writing.
package printable

import (
	"strings"
	"unicode"
)

// Line is s as one line: breaks and tabs are blanks, other control and formatting characters are U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029':
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Text is s with its lines as they are, each of them as Line makes it.
func Text(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = Line(l)
	}
	return strings.Join(lines, "\n")
}
