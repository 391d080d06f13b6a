package httpapi

import (
	"strconv"
	"time"
)

// HeaderTimeout tells a server how long its client will wait: a number of at most eight digits and a unit (H, M, S, m, u, n), as in
// gRPC, whose gateway takes it from HTTP's clients under this name, too. A client sends it for a call whose context has a
// deadline. A server that does not watch its connections while it answers knows by it alone that nobody waits any more.
const HeaderTimeout = "Grpc-Timeout"

// units of a timeout, the finest first.
var units = [...]struct {
	name byte
	size time.Duration
}{{'n', time.Nanosecond}, {'u', time.Microsecond}, {'m', time.Millisecond}, {'S', time.Second}, {'M', time.Minute}, {'H', time.Hour}}

const maxTimeout = 99_999_999

// AppendTimeout writes d, at least a nanosecond, in the finest unit that has room for it, rounded up.
func AppendTimeout(dst []byte, d time.Duration) []byte {
	d = max(d, 1)
	for _, u := range units {
		if n := (int64(d)-1)/int64(u.size) + 1; n <= maxTimeout { // an int64 of nanoseconds always fits into hours
			return append(strconv.AppendInt(dst, n, 10), u.name)
		}
	}
	return dst
}

// ParseTimeout reads what AppendTimeout writes; ok is false for anything else. What is longer than a time.Duration can say is the longest of
// those.
func ParseTimeout(b []byte) (d time.Duration, ok bool) {
	if len(b) < 2 || len(b) > 9 {
		return 0, false
	}
	var n int64
	for _, c := range b[:len(b)-1] {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	for _, u := range units {
		if u.name != b[len(b)-1] {
			continue
		}
		const longest = time.Duration(1<<63 - 1)
		if n > int64(longest/u.size) {
			return longest, true
		}
		return time.Duration(n) * u.size, true
	}
	return 0, false
}
