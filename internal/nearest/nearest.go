// Package nearest tells a user who mistyped a name which names there are, and which of them was probably meant.
package nearest

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Unknown is the error for a name that is not among names: what kind of thing it was to be, the nearest name
// where one is near, and all names in their order.
//
//	unknown workload "datatpye": did you mean "datatype"? (datatype, getfeature)
//	unknown workload "x" (datatype, getfeature)
func Unknown(kind, name string, names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("unknown %s %q (there are none)", kind, name)
	}
	all := strings.Join(names, ", ")
	if best := Nearest(name, names); best != "" {
		return fmt.Errorf("unknown %s %q: did you mean %q? (%s)", kind, name, best, all)
	}
	return fmt.Errorf("unknown %s %q (%s)", kind, name, all)
}

// Nearest is the name with the fewest edits from name, the first of equals, if a third of the longer one's letters
// (at least two, for two that changed places) can account for them; else the first that name is the beginning of, at least two letters long; else "".
// Case does not count.
func Nearest(name string, names []string) string {
	typed := strings.ToLower(name)
	best, fewest := "", -1
	for _, n := range names {
		edits := levenshtein.ComputeDistance(typed, strings.ToLower(n))
		longer := max(len(typed), len(n))
		if edits < longer && edits <= max(2, longer/3) && (fewest < 0 || edits < fewest) {
			best, fewest = n, edits
		}
	}
	if best == "" && len(typed) >= 2 {
		for _, n := range names {
			if strings.HasPrefix(strings.ToLower(n), typed) {
				return n
			}
		}
	}
	return best
}
