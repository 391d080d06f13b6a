package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"bakeoff/harness/report"
)

// output is one -o FORMAT[=FILE] of a report.
type output = outputOf[report.Tables]

// outputOf is one -o FORMAT[=FILE] of a T.
type outputOf[T any] struct {
	format report.FormatOf[T]
	path   string // "": stdout
}

// outputFlags say how a report is written, and where to.
type outputFlags struct {
	specs []string
	wide  bool
}

const outputUsage = "`FORMAT[=FILE]`: how to report and where to ('bakeoff list formats'); may be repeated;\n" + overwrites +
	"\n(default: table to stdout); --format is the same"

const wideUsage = "the table with all columns and the ends of the intervals, 132 columns wide: as -o wide"

// usageOf is the usage of -o for a list of formats of its own.
func usageOf[T any](formats []report.FormatOf[T]) string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return "`FORMAT[=FILE]`: " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + "; may be repeated;\n" + overwrites +
		"\n(default: table to stdout); --format is the same"
}

// overwrites is what every -o does.
const overwrites = "a FILE that exists is overwritten, a pipe is written when it has a reader, and one at most goes to stdout, which - is too"

func (f *outputFlags) register(flags *pflag.FlagSet) { f.registerAs(flags, outputUsage, wideUsage) }

// registerAs is register for what is no report of a run.
func (f *outputFlags) registerAs(flags *pflag.FlagSet, output, wide string) {
	flags.StringArrayVarP(&f.specs, "output", "o", nil, output)
	flags.BoolVar(&f.wide, "wide", false, wide)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "format" {
			name = "output"
		}
		return pflag.NormalizedName(name)
	})
}

// parse reads every -o of a report.
func (f *outputFlags) parse(files ...kept) ([]output, error) {
	return outputsOf(f.widened(), report.Find, files...)
}

// widened are the outputs with the table as wide as was asked for.
func (f *outputFlags) widened() []string {
	specs := slices.Clone(f.specs)
	if len(specs) == 0 {
		specs = []string{report.Text.Name}
	}
	for i, spec := range specs {
		if name, path, toFile := strings.Cut(spec, "="); f.wide && name == report.Text.Name {
			specs[i] = report.Wide.Name
			if toFile {
				specs[i] += "=" + path
			}
		}
	}
	return specs
}

// outputsOf reads every -o, and finds out now whether its file can be written: not after a run of minutes. None may be one of the files
// that are to be kept, or that of another output; one at most may go to stdout, where two would be one document that nobody can read.
func outputsOf[T any](specs []string, find func(name string) (report.FormatOf[T], error), files ...kept) ([]outputOf[T], error) {
	if len(specs) == 0 {
		specs = []string{report.Text.Name}
	}
	outputs := make([]outputOf[T], 0, len(specs))
	onStdout := ""
	for _, spec := range specs {
		name, path, toFile := strings.Cut(spec, "=")
		if path == "-" {
			path, toFile = "", false
		}
		format, err := find(name)
		if err != nil {
			return nil, fmt.Errorf("-o %s: %w", spec, err)
		}
		switch {
		case !toFile && onStdout != "":
			return nil, fmt.Errorf("-o %s and -o %s: both would go to stdout; write one to a file: -o %s=FILE", onStdout, spec, name)
		case !toFile:
			onStdout = spec
		case path == "":
			return nil, fmt.Errorf("-o %s: no file after =", spec)
		default:
			if err := refuse(path, files); err != nil {
				return nil, fmt.Errorf("-o %s: %w", spec, err)
			}
			if err := writable(path); err != nil {
				return nil, fmt.Errorf("-o %s: %w", spec, err)
			}
			files = slices.Concat(files, keep("that of -o "+spec, path))
		}
		outputs = append(outputs, outputOf[T]{format, path})
	}
	return outputs, nil
}

// defaultResults is the folder of the result files that were given no name.
const defaultResults = "results"

// newFile says why the result file can't be made, now and not after the servers were examined; "" is a new one in defaultResults.
func newFile(path string) error {
	if path == "" {
		if err := roomIn(defaultResults); err != nil {
			return fmt.Errorf("the raw results can't be kept in the folder %s here: %w; name another place with --results FILE", defaultResults, err)
		}
		return nil
	}
	if kind := special(path); kind != "" {
		return fmt.Errorf("%s is %s: it must be a file, and a new one", path, kind)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s exists and would be lost: name another file, or remove it", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return writable(path)
}

// roomIn makes a file in a folder, and the folder if it is not there, and takes away what it made.
func roomIn(folder string) error {
	err := os.Mkdir(folder, 0o777)
	switch {
	case err == nil:
		defer os.Remove(folder)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	f, err := os.CreateTemp(folder, ".writable-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writeAll writes every output and goes on after one that failed: one full disk loses one file.
func writeAll[T any](ctx context.Context, outputs []outputOf[T], content T, s *streams) error {
	var failed []error
	for _, o := range outputs {
		if err := o.write(ctx, content, s); err != nil {
			failed = append(failed, fmt.Errorf("-o %s: %w", o.format.Name, err))
		}
	}
	err := errors.Join(failed...)
	if errors.Is(err, errStopped) {
		return &exitError{exitInterrupted, err}
	}
	return err
}

func (o outputOf[T]) write(ctx context.Context, content T, s *streams) error {
	if l, ok := any(content).(linked[T]); ok {
		content = l.Linked(func(file string) string { return linkFrom(o.path, file) })
	}
	if o.path == "" {
		write := o.format.Write
		if o.format.Colour != nil && colours(s.out) {
			write = o.format.Colour
		}
		return write(s.out, content)
	}
	return writeFile(ctx, o.path, s.err, func(w io.Writer) error { return o.format.Write(w, content) })
}

// colours says whether letters may be bold there: it is a terminal that knows how, and the user has not set NO_COLOR.
func colours(w io.Writer) bool {
	if told, ok := w.(*watchedWriter); ok {
		w = told.w
	}
	return os.Getenv("NO_COLOR") == "" && terminal(w) != nil
}

// terminal is the terminal that w is, if it knows escape sequences; else nil.
func terminal(w io.Writer) *os.File {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}
