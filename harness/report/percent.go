package report

import (
	"math"
	"strconv"

	shares "bakeoff/internal/share"
)

// percent prints a share: 0.123 is "12%", 0.0123 is "1.2%", and 0.99996 is "99.996%".
func percent(share float64) string {
	decimals := 1
	if math.Abs(share) >= 0.0995 {
		decimals = 0
	}
	return percentage(math.Abs(share), func(p float64) string { return strconv.FormatFloat(p, 'f', decimals, 64) })
}

// percentage prints a share as round prints so many percent, or with as many decimals as it takes not to read 0 or 100 where it is neither.
func percentage(share float64, round func(percent float64) string) string {
	p := 100 * share
	if whole := math.Round(p); math.Abs(p-whole) < 1e-6 {
		p = whole // the rest is of the arithmetic
	}
	return shares.Percent(p, round) + "%"
}

// signed prints a ratio as a change: 1.123 is "+12%", 0.5 is "-50%".
func signed(ratio float64) string {
	if ratio < 1 {
		return "-" + percent(ratio-1)
	}
	return "+" + percent(ratio-1)
}
