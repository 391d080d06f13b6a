package report

import (
	"math"
	"slices"
	"strconv"

	"golang.org/x/perf/benchunit"
)

// scale is how the numbers of a column are printed: value/factor, with the unit in the column's head.
type scale struct {
	factor float64
	unit   string
}

// The scales that do not depend on the values.
var (
	microseconds = scale{1e-6, "us"}
	plain        = scale{1, ""}
	percentOf    = scale{0.01, "%"}
)

// scaleOf finds the prefix with which the middle one of the values has one to three digits before the point: k, M, m, u or Ki, Mi.
func scaleOf(values []float64, unit string) scale {
	if unit == unitCores {
		return plain
	}
	class := benchunit.Decimal
	if unit == unitBytes {
		class = benchunit.Binary
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if len(sorted) == 0 || sorted[len(sorted)/2] <= 0 {
		return scale{1, unit}
	}
	s := benchunit.CommonScale(sorted[len(sorted)/2:len(sorted)/2+1], class)
	if unit == unitRate && s.Factor < 1 {
		return scale{1, unit}
	}
	prefix := s.Prefix
	if prefix == "µ" {
		prefix = "u" // as everywhere in the table: it is one column wide in any terminal
	}
	if unit == unitRate && prefix != "" {
		return scale{s.Factor, prefix + " " + unit}
	}
	return scale{s.Factor, prefix + unit}
}

// cell prints a value with its interval: "31.2 [30.1, 32.0]"; in round brackets where the rounds are too few for 95 %;
// without any where all rounds agree, or where there is one.
func (s scale) cell(v Value) string {
	m, low, high := digits(v.Median/s.factor), digits(v.Low/s.factor), digits(v.High/s.factor)
	switch {
	case low == high:
		return m
	case v.TooFew:
		return m + " (" + low + ", " + high + ")"
	}
	return m + " [" + low + ", " + high + "]"
}

// digits prints three significant digits, or all of those before the point.
func digits(v float64) string {
	a := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a >= 0.001:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
