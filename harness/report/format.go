package report

import (
	"fmt"
	"io"

	"bakeoff/internal/nearest"
)

// Format is a documented way to write Tables.
type Format = FormatOf[Tables]

// ChangeFormat is a documented way to write Changes.
type ChangeFormat = FormatOf[Changes]

// FormatOf is a documented way to write a T. Write returns the error of the writer, so that a full disk is seen.
type FormatOf[T any] struct {
	Name, Doc string
	Write     func(io.Writer, T) error
	// Colour is Write for a terminal that shows letters bold and faint; nil where there is nothing to show so. What it says is the same.
	Colour func(io.Writer, T) error
	// Alias is another name that finds it, and that it had before; empty for none.
	Alias string
}

// writeAll writes a report in a format; its error says in which.
func writeAll(w io.Writer, format, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write %s: %w", format, err)
	}
	return nil
}

// All lists the formats, the default first.
var All = []Format{Text, Wide, Markdown, CSV, JSON, BenchFmt, HTML, GHZ, GHZLike, Iterations, JUnit, Prometheus, ADR}

// Find gives the format of that name; the error for another one names the formats, and the nearest.
func Find(name string) (Format, error) { return FindFormat("format", name, All) }

// FindChange is Find for a comparison.
func FindChange(name string) (ChangeFormat, error) {
	return FindFormat("format of a comparison", name, ChangeFormats)
}

// FindFormat gives the format of that name out of any list; kind says in the error what it is a format of.
func FindFormat[T any](kind, name string, all []FormatOf[T]) (FormatOf[T], error) {
	var names []string
	for _, f := range all {
		if f.Name == name || f.Alias != "" && f.Alias == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return FormatOf[T]{}, nearest.Unknown(kind, name, names)
}
