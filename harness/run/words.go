package run

import (
	"strings"
	"sync"
)

// The bounds of what is kept of a child's stderr, and of what is quoted of it.
const (
	keptWords   = 64 << 10
	quotedLines = 5
	quotedBytes = 600
)

// lastWords keeps the end of what is written to it. It may be used concurrently.
type lastWords struct {
	mu   sync.Mutex
	tail []byte
	lost bool // older bytes were dropped, so that the first line may be a part
}

func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, p...)
	// Cut at twice the bound, so that bytes are moved once per bound and not at every write.
	if len(w.tail) > 2*keptWords {
		w.tail = append(w.tail[:0], w.tail[len(w.tail)-keptWords:]...)
		w.lost = true
	}
	return len(p), nil
}

// String is what an error quotes: of a crash the lines that say why, without the stacks below them; else the last
// lines. They are joined by " | ". It is "" when nothing was said.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for l := range strings.Lines(strings.ToValidUTF8(string(w.tail), "?")) {
		if l = strings.TrimSpace(l); l != "" {
			lines = append(lines, l)
		}
	}
	if w.lost && len(lines) > 1 {
		lines = lines[1:]
	}
	from := max(0, len(lines)-quotedLines)
	for i, l := range lines {
		if strings.HasPrefix(l, "panic:") || strings.HasPrefix(l, "fatal error:") {
			from = i
			break
		}
	}
	lines = lines[from:min(len(lines), from+quotedLines)]
	quote := strings.Join(lines, " | ")
	if len(quote) > quotedBytes {
		quote = strings.ToValidUTF8(quote[:quotedBytes], "") + "..."
	}
	return quote
}
