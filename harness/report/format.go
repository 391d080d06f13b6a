package report

import (
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
}

// All lists the formats, the default first.
var All = []Format{Text, Markdown, CSV, JSON, GoBench}

// Find gives the format of that name; the error for another one names the formats, and the nearest.
func Find(name string) (Format, error) { return FindFormat("format", name, All) }

// ChangeFormats lists those of a comparison of two files, the default first.
var ChangeFormats = []ChangeFormat{
	{Name: Text.Name, Doc: Text.Doc, Write: func(w io.Writer, c Changes) error { return textOf(w, c.layout()) }},
	{Name: Markdown.Name, Doc: Markdown.Doc, Write: func(w io.Writer, c Changes) error { return markdownOf(w, c.layout()) }},
	{Name: JSON.Name, Doc: JSON.Doc, Write: func(w io.Writer, c Changes) error { return jsonOf(w, c) }},
}

// FindChange is Find for a comparison.
func FindChange(name string) (ChangeFormat, error) {
	return FindFormat("format of a comparison", name, ChangeFormats)
}

// FindFormat gives the format of that name out of any list; kind says in the error what it is a format of.
func FindFormat[T any](kind, name string, all []FormatOf[T]) (FormatOf[T], error) {
	var names []string
	for _, f := range all {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return FormatOf[T]{}, nearest.Unknown(kind, name, names)
}
