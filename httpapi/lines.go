package httpapi

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"time"
)

// ErrLineTooLong is returned by Lines.Next for a line over the limit.
var ErrLineTooLong = errors.New("a line is over the limit")

// Lines reads NDJSON: one line at a time, in memory bounded by the longest line. Blank lines are skipped; the last
// one need not end in a newline. It is for one goroutine.
type Lines struct {
	r     *bufio.Reader
	limit int
	long  []byte
	first bool
	// N is the number of the line that Next returned last, from 1.
	N int
}

// NewLines reads from r lines of at most limit bytes, not counting their ends.
func NewLines(r io.Reader, limit int) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, 4096), limit: limit, first: true}
}

// Next returns the next line without its end; it is valid until the following call. io.EOF is the end; any other
// error of the reader comes as it is, and what was read of a broken line is dropped.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if l.first {
			line, l.first = TrimBOM(line), false
		}
		if len(line) > l.limit {
			return nil, ErrLineTooLong
		}
		if len(line) > 0 {
			return line, nil
		}
	}
}

func (l *Lines) line() ([]byte, error) {
	l.N++
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil:
			part = part[:len(part)-1]
		case errors.Is(err, bufio.ErrBufferFull):
			if len(l.long)+len(part) > l.limit+len(bom)+1 {
				return nil, ErrLineTooLong
			}
			l.long = append(l.long, part...)
			continue
		case errors.Is(err, io.EOF) && len(l.long)+len(part) > 0:
			// The last line, which nothing ends; the next call finds the end again.
		default:
			return nil, err
		}
		if len(l.long) == 0 {
			return part, nil
		}
		l.long = append(l.long, part...)
		return l.long, nil
	}
}

// The size at which a Batch goes out, and how long its first line waits for others.
const (
	batchSize  = 4096
	batchDelay = 2 * time.Millisecond
)

// Batch gathers lines into pieces, so that a stream costs one write for many messages and a slow one is still
// sent as it comes: a piece goes out when it is full, or 2 ms after its first line. Use it from one goroutine and
// Close it; the function that it was given is then never called again.
type Batch struct {
	mu     sync.Mutex
	buf    []byte
	send   func(piece []byte) error
	timer  *time.Timer
	armed  bool // the timer runs
	closed bool
	err    error
}

// NewBatch hands the pieces to send, never two at a time. send must not keep them.
func NewBatch(send func(piece []byte) error) *Batch {
	return &Batch{send: send, buf: make([]byte, 0, batchSize+512)}
}

// Add appends one message with write and ends its line. An error of write leaves the batch as it was. An error of
// send stays: it is returned by this and every later call.
func (b *Batch) Add(write func(dst []byte) ([]byte, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errBatchClosed
	}
	if b.err != nil {
		return b.err
	}
	buf, err := write(b.buf)
	if err != nil {
		return err
	}
	b.buf = append(buf, '\n')
	if len(b.buf) >= batchSize {
		b.flush()
		return b.err
	}
	if !b.armed {
		b.armed = true
		if b.timer == nil {
			b.timer = time.AfterFunc(batchDelay, b.due)
		} else {
			b.timer.Reset(batchDelay)
		}
	}
	return nil
}

// due runs when the timer fires. A piece that went out by itself in the meantime only makes the following one
// leave early.
func (b *Batch) due() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = false
	if !b.closed {
		b.flush()
	}
}

func (b *Batch) flush() {
	if b.err == nil && len(b.buf) > 0 {
		b.err = b.send(b.buf)
	}
	b.buf = b.buf[:0]
}

// Close sends what is left.
func (b *Batch) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.flush()
	}
	return b.close()
}

// Rest closes the batch without sending what is left, and returns that.
func (b *Batch) Rest() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	_ = b.close()
	return b.buf
}

func (b *Batch) close() error {
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
	return b.err
}

var errBatchClosed = errors.New("the batch is closed")

// ReadMessage appends all of r to dst; more than limit bytes are ErrLineTooLong.
func ReadMessage(r io.Reader, dst []byte, limit int) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, make([]byte, 512)...)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > limit:
			return dst, ErrLineTooLong
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
