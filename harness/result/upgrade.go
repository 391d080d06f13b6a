package result

import "strings"

// uncheckedBefore2 is how the first of a subject's differences began in schema 1 where its answers could not be checked.
const uncheckedBefore2 = "its answers could not be checked: "

// upgrade turns a header of an older schema into one of this.
func (h *Header) upgrade() {
	if h.Schema < 2 {
		for i, s := range h.Subjects {
			if len(s.Differences) == 0 || s.Conformant {
				continue
			}
			if why, ok := strings.CutPrefix(s.Differences[0], uncheckedBefore2); ok {
				h.Subjects[i].Unchecked, h.Subjects[i].Differences = why, s.Differences[1:]
			}
		}
	}
	h.Schema = Schema
}
