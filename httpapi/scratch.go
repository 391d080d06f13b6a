package httpapi

import "sync"

// Scratch is where a body is read to, or written. Nothing that a Codec has decoded from it points into it.
type Scratch struct{ B []byte }

var scratches = sync.Pool{New: func() any { return &Scratch{B: make([]byte, 0, 1024)} }}

// largeScratch is not kept: a burst of 1 MiB bodies would stay in memory.
const largeScratch = 64 << 10

// GetScratch is an empty one; give it back with Release.
func GetScratch() *Scratch {
	s := scratches.Get().(*Scratch)
	s.B = s.B[:0]
	return s
}

// Release gives it back.
func (s *Scratch) Release() {
	if cap(s.B) <= largeScratch {
		scratches.Put(s)
	}
}
