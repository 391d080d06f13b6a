package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Writer appends trials to a result file. Each line goes out in one write and is not buffered, so that a run that
// is killed has lost at most the trials in flight; there is no fsync, for a result file need not survive the machine.
// A Writer serves one goroutine; a reader of the same file may follow at any time.
type Writer struct {
	name string
	out  sink
	size int64 // bytes of whole lines
	err  error // why nothing more can be appended
}

// sink is what a Writer needs of a file.
type sink interface {
	io.Writer
	io.Closer
	Truncate(size int64) error
}

// Create makes the file and its parent folders and writes the header, whose Schema and Kind it sets. A file that
// exists is refused unless overwrite is true: it may be the only record of a night's run.
func Create(path string, h Header, overwrite bool) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("create result file %s: %w", path, err)
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_APPEND | os.O_EXCL
	if overwrite {
		how = os.O_WRONLY | os.O_CREATE | os.O_APPEND | os.O_TRUNC
	}
	f, err := os.OpenFile(path, how, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create result file %s: it exists already: choose another name or remove it: %w", path, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("create result file %s: %w", path, err)
	}
	if err := lock(f); err != nil {
		f.Close() // the first error is the one to tell
		return nil, fmt.Errorf("create result file %s: %w", path, err)
	}
	w := &Writer{name: path, out: f}
	if err := w.writeHeader(h); err != nil {
		f.Close() // the first error is the one to tell
		return nil, err
	}
	return w, nil
}

func (w *Writer) writeHeader(h Header) error {
	h.Schema, h.Kind = Schema, KindHeader
	return w.append("the header", h)
}

// Path is the file's name as it was given.
func (w *Writer) Path() string { return w.name }

// Append writes one trial as a line, and sets its Kind. When a write fails (a full disk) the error names the file,
// what was written before stays readable, and the next Append may succeed if there is room again.
func (w *Writer) Append(t Trial) error {
	t.Kind = KindTrial
	return w.append(fmt.Sprintf("the trial of %s, round %d", t.Subject, t.Round), t)
}

func (w *Writer) append(what string, v any) error {
	if w.err != nil {
		return w.err
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line) // ends the document with a newline
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write %s to %s: %w", what, w.name, err)
	}
	n, err := w.out.Write(line.Bytes())
	if err == nil {
		w.size += int64(n)
		return nil
	}
	err = fmt.Errorf("write %s to %s: %w", what, w.name, err)
	if n == 0 {
		return err
	}
	// Half a line stands at the end; the next one must not be glued to it.
	if terr := w.out.Truncate(w.size); terr != nil {
		w.err = fmt.Errorf("%w; the half-written line stays, so nothing more is appended: %w", err, terr)
		return w.err
	}
	return err
}

// Close closes the file. Appending after it fails.
func (w *Writer) Close() error {
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("close result file %s: %w", w.name, err)
	}
	return nil
}
