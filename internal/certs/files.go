package certs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files are where a set lies in a directory.
type Files struct {
	CA, CAKey, Server, ServerKey, Client, ClientKey string
}

// In names the files of a set in dir.
func In(dir string) Files {
	at := func(name string) string { return filepath.Join(dir, name) }
	return Files{
		CA: at("ca.pem"), CAKey: at("ca-key.pem"),
		Server: at("server.pem"), ServerKey: at("server-key.pem"),
		Client: at("client.pem"), ClientKey: at("client-key.pem"),
	}
}

// Write writes the set into dir, which it makes if need be. Keys can be read by their owner alone. Files that are there are
// an error that names them, and nothing is written, unless overwrite says that they may go.
func (s Set) Write(dir string, overwrite bool) (Files, error) {
	f := In(dir)
	all := []struct {
		path string
		text []byte
		mode fs.FileMode
	}{
		{f.CA, s.CA.Cert, 0o644}, {f.CAKey, s.CA.Key, 0o600},
		{f.Server, s.Server.Cert, 0o644}, {f.ServerKey, s.Server.Key, 0o600},
		{f.Client, s.Client.Cert, 0o644}, {f.ClientKey, s.Client.Key, 0o600},
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return f, err
	}
	if !overwrite {
		var there []string
		for _, file := range all {
			if _, err := os.Lstat(file.path); !errors.Is(err, fs.ErrNotExist) {
				there = append(there, filepath.Base(file.path))
			}
		}
		if len(there) > 0 {
			return f, fmt.Errorf("%s: %s: %w", dir, strings.Join(there, ", "), fs.ErrExist)
		}
	}
	// All are written before the first takes its place, so that a disk that is full leaves nothing of a set that was not finished.
	var written []string
	defer func() {
		for _, name := range written {
			_ = os.Remove(name)
		}
	}()
	for _, file := range all {
		name, err := writeTemporary(dir, file.text, file.mode)
		if name != "" {
			written = append(written, name)
		}
		if err != nil {
			return f, err
		}
	}
	for i, file := range all { // what was there before goes, so that its mode and links don't matter
		if err := os.Rename(written[i], file.path); err != nil {
			return f, err
		}
		written[i] = file.path
	}
	written = nil
	return f, nil
}

// writeTemporary writes a file under a name of its own, which it gives back also when it fails; "" is none.
func writeTemporary(dir string, text []byte, mode fs.FileMode) (string, error) {
	temporary, err := os.CreateTemp(dir, ".bakeoff-*") // readable by its owner alone
	if err != nil {
		return "", err
	}
	_, err = temporary.Write(text)
	return temporary.Name(), errors.Join(err, temporary.Chmod(mode), temporary.Close())
}
