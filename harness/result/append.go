package result

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrInUse is that another Writer has the file: a run that goes on.
var ErrInUse = errors.New("another run is writing it")

// Append reads the result file at path and opens it for more trials. A last line that was cut short (the run was killed while it wrote) is
// cut off, a whole one without an end gets it. A file that can't be read, or that a run is still writing, is left as it is.
func Append(path string) (*Writer, File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, File{Name: path}, fmt.Errorf("append to results: %w", err)
	}
	w, file, err := appendTo(f, path)
	if err != nil {
		f.Close() // the first error is the one to tell
		return nil, file, fmt.Errorf("append to results: %w", err)
	}
	return w, file, nil
}

func appendTo(f *os.File, path string) (*Writer, File, error) {
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() { // a pipe has no end
		return nil, File{Name: path}, fmt.Errorf("%s is no regular file", path)
	}
	if err := lock(f); err != nil {
		return nil, File{Name: path}, fmt.Errorf("%s: %w", path, err)
	}
	file, err := Read(f, path)
	if err != nil {
		return nil, file, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, file, err
	}
	whole, err := lastEnd(f, size)
	if err != nil {
		return nil, file, err
	}
	w := &Writer{name: path, out: f, size: whole}
	cut := false
	for _, warning := range file.Warnings {
		cut = cut || warning.Kind == WarnTruncated
	}
	switch {
	case whole == size:
	case cut:
		if err := f.Truncate(whole); err != nil {
			return nil, file, fmt.Errorf("%s: cut off the half-written last line: %w", path, err)
		}
	default:
		if _, err := f.WriteString("\n"); err != nil {
			return nil, file, fmt.Errorf("%s: end the last line: %w", path, err)
		}
		w.size = size + 1
	}
	return w, file, nil
}

// lastEnd is where the last line that has an end stops.
func lastEnd(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		from := max(0, end-int64(len(buf)))
		part := buf[:end-from]
		if _, err := f.ReadAt(part, from); err != nil {
			return 0, err
		}
		for i := len(part) - 1; i >= 0; i-- {
			if part[i] == '\n' {
				return from + int64(i) + 1, nil
			}
		}
		end = from
	}
	return 0, nil
}

// lock keeps two runs from writing one file. The kernel lets go of it when the file is closed, also by a process that is killed.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrInUse
	}
	return nil // some network file systems have no locks: then nothing is known of others
}
