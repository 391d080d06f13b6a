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

// output is one -o FORMAT[=FILE].
type output struct {
	format report.Format
	path   string // "": stdout
}

const outputUsage = "`FORMAT[=FILE]`: how to report and where to; may be repeated (default: table to stdout)"

// parseOutputs reads every -o, and finds out now whether its file can be written: not after a run of minutes.
func parseOutputs(specs []string) ([]output, error) {
	if len(specs) == 0 {
		specs = []string{"table"}
	}
	outputs := make([]output, 0, len(specs))
	for _, spec := range specs {
		name, path, toFile := strings.Cut(spec, "=")
		format, err := report.Find(name)
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
		outputs = append(outputs, output{format, path})
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
func writeAll(outputs []output, tables report.Tables, stdout io.Writer) error {
	var failed []error
	for _, o := range outputs {
		if err := o.write(tables, stdout); err != nil {
			failed = append(failed, fmt.Errorf("-o %s: %w", o.format.Name, err))
		}
	}
	return errors.Join(failed...)
}

func (o output) write(tables report.Tables, stdout io.Writer) error {
	if o.path == "" {
		return o.format.Write(stdout, tables)
	}
	f, err := os.Create(o.path)
	if err != nil {
		return err
	}
	if err := o.format.Write(f, tables); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", o.path, err)
	}
	return f.Close()
}
