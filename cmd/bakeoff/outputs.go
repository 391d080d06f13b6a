package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bakeoff/harness/report"
)

// output is one -o FORMAT[=FILE] of a report.
type output = outputOf[report.Tables]

// outputOf is one -o FORMAT[=FILE] of a T.
type outputOf[T any] struct {
	format report.FormatOf[T]
	path   string // "": stdout
}

const outputUsage = "`FORMAT[=FILE]`: how to report and where to; may be repeated (default: table to stdout)"

// parseOutputs reads every -o of a report.
func parseOutputs(specs []string) ([]output, error) { return outputsOf(specs, report.Find) }

// outputsOf reads every -o, and finds out now whether its file can be written: not after a run of minutes.
func outputsOf[T any](specs []string, find func(name string) (report.FormatOf[T], error)) ([]outputOf[T], error) {
	if len(specs) == 0 {
		specs = []string{report.Text.Name}
	}
	outputs := make([]outputOf[T], 0, len(specs))
	for _, spec := range specs {
		name, path, toFile := strings.Cut(spec, "=")
		format, err := find(name)
		if err != nil {
			return nil, fmt.Errorf("-o %s: %w", spec, err)
		}
		if toFile {
			if path == "" {
				return nil, fmt.Errorf("-o %s: no file after =", spec)
			}
			if err := writable(path); err != nil {
				return nil, fmt.Errorf("-o %s: %w", spec, err)
			}
		}
		outputs = append(outputs, outputOf[T]{format, path})
	}
	return outputs, nil
}

// writable opens a file for writing and leaves it as it was.
func writable(path string) error {
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
		return os.Remove(path)
	}
	return nil
}

// newFile says why the result file can't be made, now and not after the servers were examined; "" is none yet.
func newFile(path string) error {
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists and would be lost: name another file, or remove it", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return writable(path)
}

// writeAll writes every output and goes on after one that failed: one full disk loses one file.
func writeAll[T any](outputs []outputOf[T], content T, stdout io.Writer) error {
	var failed []error
	for _, o := range outputs {
		if err := o.write(content, stdout); err != nil {
			failed = append(failed, fmt.Errorf("-o %s: %w", o.format.Name, err))
		}
	}
	return errors.Join(failed...)
}

func (o outputOf[T]) write(content T, stdout io.Writer) error {
	if o.path == "" {
		return o.format.Write(stdout, content)
	}
	f, err := os.Create(o.path)
	if err != nil {
		return err
	}
	if err := o.format.Write(f, content); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", o.path, err)
	}
	return f.Close()
}
