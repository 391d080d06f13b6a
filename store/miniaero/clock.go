package miniaero

import (
	"sync/atomic"
	"time"
)

// epoch is where void times start: 2010-01-01 UTC, in Unix seconds.
const epoch = 1262304000

// clock tells the server's time: the machine's, moved forward, or a time that stands still.
type clock struct {
	offset atomic.Int64 // nanoseconds ahead of the machine
	fixed  atomic.Int64 // Unix nanoseconds; 0 runs
}

func (c *clock) now() time.Time {
	if f := c.fixed.Load(); f != 0 {
		return time.Unix(0, f)
	}
	return time.Now().Add(time.Duration(c.offset.Load()))
}

// seconds is the present second in the measure of void times.
func (c *clock) seconds() uint32 { return uint32(c.now().Unix() - epoch) }

// SetTime makes the server's clock stand at t, for tests of what expires. The zero time lets it run again from
// the machine's time.
func (s *Server) SetTime(t time.Time) {
	s.clock.offset.Store(0)
	if t.IsZero() {
		s.clock.fixed.Store(0)
		return
	}
	s.clock.fixed.Store(t.UnixNano())
}

// FastForward moves the server's clock by d, whether it runs or stands.
func (s *Server) FastForward(d time.Duration) {
	for {
		f := s.clock.fixed.Load()
		if f == 0 {
			s.clock.offset.Add(int64(d))
			return
		}
		if s.clock.fixed.CompareAndSwap(f, f+int64(d)) {
			return
		}
	}
}
