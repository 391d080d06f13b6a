package main

import (
	"os"
	"path/filepath"
)

// linked is a report that has links to files in it; link gives what leads to one from where the report will lie, "" if nothing does.
type linked[T any] interface {
	Linked(link func(file string) string) T
}

// linkFrom is the path of a file as a link in an output: from the output's folder on, where that leads to it, and else from the root on.
// It stays as it was given where the output has no folder, or the path is from the root on already.
func linkFrom(output, file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return "" // stdin, or it is gone
	}
	if output == "" || special(output) != "" || filepath.IsAbs(file) {
		return file
	}
	folder, err := filepath.Abs(filepath.Dir(output))
	if err != nil {
		return file
	}
	full, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	relative, err := filepath.Rel(folder, full)
	if err != nil {
		return full
	}
	// Behind a folder that is a link, .. is another folder for the kernel than for a browser.
	there, err := os.Stat(folder + string(filepath.Separator) + relative)
	if err != nil || !os.SameFile(there, info) {
		return full
	}
	return relative
}
