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
	for _, file := range all {
		if err := writeFile(dir, file.path, file.text, file.mode); err != nil {
			return f, err
		}
	}
	return f, nil
}

// writeFile puts a new file in the place of an old one, whose mode and links then don't matter.
func writeFile(dir, path string, text []byte, mode fs.FileMode) error {
	temporary, err := os.CreateTemp(dir, ".bakeoff-*") // readable by its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(text)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Close())
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
