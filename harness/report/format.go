package report

import (
	"io"

	"bakeoff/internal/nearest"
)

// Format is a documented way to write Tables. Write returns the error of the writer, so that a full disk is seen.
type Format struct {
	Name, Doc string
	Write     func(io.Writer, Tables) error
}

// All lists the formats, the default first.
var All = []Format{Text, Markdown, CSV, JSON}

// Names are the names of All.
func Names() []string {
	var names []string
	for _, f := range All {
		names = append(names, f.Name)
	}
	return names
}

// Find gives the format of that name; the error for another one names the formats, and the nearest.
func Find(name string) (Format, error) {
	for _, f := range All {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, nearest.Unknown("format", name, Names())
}
