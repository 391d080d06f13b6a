// Package plural counts things in words.
package plural

import "fmt"

// Of is "1 round" or "2 rounds": n of a thing whose plural takes an s.
func Of(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
