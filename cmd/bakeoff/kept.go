package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"bakeoff/harness/result"
)

// kept is a file that no output may replace: what the command reads, where it keeps the raw results, or another output.
type kept struct {
	what string      // "the result file"
	path string      // place of it; "" where it has no name
	info fs.FileInfo // nil where it is not there yet
}

// keep is the file at a path; "" is none.
func keep(what, path string) []kept {
	if path == "" {
		return nil
	}
	k := kept{what: what, path: place(path)}
	k.info, _ = os.Stat(path) // where there is no file yet, the path is what counts
	return []kept{k}
}

// keepInput is a file that the command reads: FILE, or - for stdin, which may be a file too.
func keepInput(path string, s *streams) []kept {
	if path != "-" {
		return keep("what is read", path)
	}
	f, ok := s.in.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	return []kept{{what: "what is read", info: info}}
}

// is says whether both are one file, by whatever names. Devices can be written to as often as one likes; who reads a pipe is gone after one.
func (k kept) is(other kept) bool {
	switch {
	case k.info == nil && other.info == nil:
		return k.path == other.path
	case k.info == nil || other.info == nil:
		return false
	}
	return (k.info.Mode().IsRegular() || k.info.Mode()&fs.ModeNamedPipe != 0) && os.SameFile(k.info, other.info)
}

// refuse says which of the files an output to a path would replace, or that it would replace a result file of whoever.
func refuse(path string, files []kept) error {
	for _, o := range keep("", path) {
		for _, k := range files {
			if k.is(o) {
				return fmt.Errorf("%s is %s, which would be lost: name another file", path, k.what)
			}
		}
		if special(path) == "" && result.Is(path) {
			return fmt.Errorf("%s is a result file, and what was measured would be lost: name another file, or remove it", path)
		}
	}
	return nil
}

// maxLinks is how many symbolic links are followed, as by the kernel.
const maxLinks = 40

// place is the path without the links on the way, also where no file is there yet: a link may point to one that is still to be made.
func place(path string) string {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path) // nothing can be made there, and whoever tries will say why
	}
	full, err := filepath.Abs(filepath.Join(dir, filepath.Base(path)))
	if err != nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return full
}
