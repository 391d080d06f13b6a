// Package share prints shares in percent, so that none reads all or nothing that is neither.
package share

import "strconv"

// Of is part of whole, to three digits or as many more as it takes: "12.5 %", "99.95 %"; below that "under 0.001 %". Of no whole it is "0 %".
func Of[N ~int | ~uint64](part, whole N) string {
	if part == 0 || whole == 0 {
		return "0 %"
	}
	p := 100 * float64(part) / float64(whole)
	if p < 0.001 {
		return "under 0.001 %"
	}
	return Percent(p, func(p float64) string { return strconv.FormatFloat(p, 'g', 3, 64) }) + " %"
}

// Percent prints so many percent, at least 0, as round does, or with as many decimals as it takes not to read 0 or 100 where it is neither.
func Percent(p float64, round func(percent float64) string) string {
	s := round(p)
	for decimals := 1; ; decimals++ {
		read, _ := strconv.ParseFloat(s, 64)
		if (read != 0 || p == 0) && (read != 100 || p >= 100) {
			return s
		}
		s = strconv.FormatFloat(p, 'f', decimals, 64)
	}
}
