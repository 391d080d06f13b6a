package meter

import (
	"bufio"
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
)

// stat is a file of the kernel with a name and a number on each line.
type stat map[string]uint64

// parseStat leaves out lines that are something else. A number has 63 bits, so that it is a duration, too.
func parseStat(data []byte) stat {
	all := stat{}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		name, value, _ := strings.Cut(s.Text(), " ")
		if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 63); err == nil {
			all[name] = n
		}
	}
	return all
}

// duration is a number of units; it is not known where the line is missing, or holds more than 292 years.
func (s stat) duration(name string, unit time.Duration) (time.Duration, bool) {
	n, ok := s[name]
	if !ok || n > math.MaxInt64/uint64(unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
