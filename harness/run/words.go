package run

import (
	"bytes"
	"strings"
	"sync"
)

// The bounds of what is kept of a child's stderr, and of what is quoted of it.
const (
	keptWords   = 64 << 10
	quotedLines = 5
	quotedBytes = 600
	crashBytes  = 4 << 10
)

// lastWords keeps the end of what is written to it, and the beginning of a crash, which the stacks and registers of thousands of
// goroutines would push out. It may be used concurrently.
type lastWords struct {
	mu    sync.Mutex
	tail  []byte
	crash []byte // from the line that says why, as soon as that line would be lost
	lost  bool   // older bytes were dropped, so that the first line may be a part
}

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, p...)
	// Cut at twice the bound, so that bytes are moved once per bound and not at every write.
	if len(w.tail) > 2*keptWords {
		if at := crashAt(w.tail); w.crash == nil && at >= 0 {
			w.crash = append([]byte(nil), w.tail[at:min(len(w.tail), at+crashBytes)]...)
		}
		w.tail = append(w.tail[:0], w.tail[len(w.tail)-keptWords:]...)
		w.lost = true
	}
	return len(p), nil
}

// crashAt is where the first line is that Go's runtime begins a crash with, -1 for none. Some faults are told before it names
// them: "runtime: cannot allocate memory", "SIGSEGV".
func crashAt(b []byte) int {
	at := 0
	for l := range bytes.Lines(b) {
		for _, begin := range [...]string{"panic:", "fatal error:", "runtime: ", "runtime/cgo: ", "SIGABRT: ", "SIGSEGV: ", "SIGBUS: "} {
			if bytes.HasPrefix(bytes.TrimSpace(l), []byte(begin)) {
				return at
			}
		}
		at += len(l)
	}
	return -1
}

// String is what an error quotes: of a crash the lines that say why, without the stacks below them; else the last
// lines. They are joined by " | ". It is "" when nothing was said.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, part := w.crash, false
	if text == nil {
		text, part = w.tail, w.lost
		if at := crashAt(text); at >= 0 {
			text, part = text[at:], false
		}
	}
	var lines []string
	for l := range strings.Lines(strings.ToValidUTF8(string(text), "?")) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	if part && len(lines) > 1 {
		lines = lines[1:]
	}
	if crashAt(text) == 0 {
		lines = lines[:min(len(lines), quotedLines)]
	} else {
		lines = lines[max(0, len(lines)-quotedLines):]
	}
	quote := strings.Join(lines, " | ")
	if len(quote) > quotedBytes {
		quote = strings.ToValidUTF8(quote[:quotedBytes], "") + "..."
	}
	return quote
}
