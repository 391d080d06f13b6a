package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// special says what a path is that is no regular file, and no folder either; "" is anything else, and what is not there.
func special(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return ""
}

// writable finds out whether a file can be written, and leaves it as it was. What is no regular file is not opened for that: who reads a pipe
// would take it for the end.
func writable(path string) error {
	switch special(path) {
	case "":
	case "a socket":
		return fmt.Errorf("%s is a socket: it can't be opened to be written", path)
	default:
		if err := unix.Access(path, unix.W_OK); err != nil {
			return &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return nil
	}
	_, err := os.Stat(path)
	created := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if created {
		return os.Remove(place(path)) // not the link to it
	}
	return nil
}

// errStopped is that a signal came while an output was being written.
var errStopped = errors.New("interrupted")

// How often a pipe is tried that nobody reads yet, and after how long that is told.
const (
	tryReader  = 20 * time.Millisecond
	tellReader = time.Second
)

// writeFile has write fill a file. A pipe is opened once, when it has a reader; the end of ctx ends the wait for one, and for its reading. An end
// that came before is of the work that is reported: then a pipe without a reader is not waited for.
//
// A file is complete or as it was before: who finds the disk full keeps the report of yesterday.
func writeFile(ctx context.Context, path string, told io.Writer, write func(io.Writer) error) error {
	if special(path) == "" {
		return replaceFile(place(path), write)
	}
	f, err := openOutput(ctx, path, told)
	if err != nil {
		return err
	}
	if ctx.Err() == nil {
		defer context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })() // what takes no deadline does not wait for a reader
	}
	if err := write(f); err != nil {
		f.Close() // the first error is the one to tell
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("%s: %w before all of it was read", path, errStopped)
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Close()
}

// replaceFile has write fill a file beside the one at path, which then takes its place. Where none can be made beside it, it is written itself.
func replaceFile(path string, write func(io.Writer) error) error {
	beside := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	alone := err != nil
	if alone {
		beside = path
		f, err = os.Create(path)
	} else if info, statErr := os.Stat(path); statErr == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = write(f)
	}
	if f != nil {
		err = cmp.Or(err, f.Close())
	}
	switch {
	case err == nil && alone:
		return nil
	case err == nil:
		if err = os.Rename(beside, path); err == nil {
			return nil
		}
	}
	if !alone {
		_ = os.Remove(beside) // the first error is the one to tell
	}
	return fmt.Errorf("%s: %w", path, err)
}

func openOutput(ctx context.Context, path string, told io.Writer) (*os.File, error) {
	kind := special(path)
	try := time.NewTicker(tryReader)
	defer try.Stop()
	slow := time.NewTimer(tellReader)
	defer slow.Stop()
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NONBLOCK, 0)
		if kind != "a pipe" || !errors.Is(err, unix.ENXIO) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w: nobody reads this pipe", path, errStopped)
		case <-slow.C:
			fmt.Fprintf(told, "waiting for a reader of the pipe %s\n", path)
		case <-try.C:
		}
	}
}
