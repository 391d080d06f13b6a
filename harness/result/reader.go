package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

// The kinds of lines.
const (
	KindHeader = "bakeoff-header"
	KindTrial  = "bakeoff-trial"
)

// MaxLine bounds a line of a result file, in bytes: a trial with its histograms takes well under one MiB.
const MaxLine = 64 << 20

// File is a result file as it was read.
type File struct {
	// Name is the path, or what the caller of Read calls its stream.
	Name   string
	Header Header
	Trials []Trial
	// Searches are the trials by which rates were found, in their order; no figure of Trials is made of them.
	Searches []Trial
	// Warnings are what was tolerated in reading: a last line cut short, a line of an unknown kind.
	Warnings []Warning
}

// Kinds of the warnings that reading gives.
const (
	WarnTruncated   = "truncated"
	WarnUnknownLine = "unknown_line"
)

// ReadFile reads the result file at path, which may still be growing.
func ReadFile(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{Name: path}, fmt.Errorf("read results: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// Is says whether the file at path begins as a result file does.
func Is(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const enough = 4 << 10 // the kind is among the first fields of a header
	begin, err := io.ReadAll(io.LimitReader(f, enough))
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	return err == nil && kindOfHeader.Match(line)
}

var kindOfHeader = regexp.MustCompile(`^[^{]*\{.*"kind"\s*:\s*"` + KindHeader + `"`)

// Read reads a header and its trials. Blank lines, unknown fields, Windows line ends and a byte-order mark are fine. A last line
// without an end that stops in the middle of its JSON (the run was killed, or is writing it now) is left out with a
// warning. Anything else that can't be read, and a trial of a subject that is not in the header, is an error that begins with name:LINE:COLUMN, columns counted in bytes
// from 1, and comes with what had been read up to there.
func Read(r io.Reader, name string) (File, error) {
	f := File{Name: name}
	lines := lineReader{r: bufio.NewReaderSize(r, 64<<10)}
	seenHeader := false
	for {
		line, whole, err := lines.next()
		if err != nil && err != io.EOF {
			return f, fmt.Errorf("%s:%d:1: %w", name, lines.n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			perr := f.add(line, lines.n, &seenHeader)
			switch {
			case perr == nil:
			case !whole && seenHeader && cutShort(perr):
				f.warn(WarnTruncated, "%s:%d: the last line is cut short and was left out: the run was killed while it wrote, or is writing still", name, lines.n)
			default:
				return f, fmt.Errorf("%s:%d:%d: %w", name, lines.n, column(perr), perr)
			}
		}
		if err == io.EOF {
			break
		}
	}
	if !seenHeader {
		return f, fmt.Errorf("%s:1:1: no header: the file is empty; want a result file, as `bakeoff run --results FILE` writes it", name)
	}
	return f, nil
}

// add takes one line that is not blank.
func (f *File) add(line []byte, number int, seenHeader *bool) error {
	var head struct {
		Schema *int    `json:"schema"`
		Kind   *string `json:"kind"`
		parts
	}
	if err := json.Unmarshal(line, &head); err != nil {
		err = inWords(line, err)
		if !*seenHeader {
			return fmt.Errorf("not a bakeoff result file: the first line must be the header, a JSON object with \"kind\":%q: %w", KindHeader, err)
		}
		var t Trial
		_ = json.Unmarshal(line, &t) // for what it says of itself up to there
		return t.Refuse(err)
	}
	kind := ""
	if head.Kind != nil {
		kind = *head.Kind
	}
	if !*seenHeader {
		if kind != KindHeader {
			return fmt.Errorf("not a bakeoff result file: the first line must be the header, with \"kind\":%q, and has %q", KindHeader, kind)
		}
		switch {
		case head.Schema == nil || *head.Schema < 1:
			return errors.New("the header has no schema version: want \"schema\":1 or more")
		case *head.Schema > Schema:
			return fmt.Errorf("schema %d is newer than %d, the newest that this bakeoff reads: use the bakeoff that wrote the file, or a later one",
				*head.Schema, Schema)
		}
		if err := json.Unmarshal(line, &f.Header); err != nil {
			f.Header = Header{}
			return Header{}.Refuse(inWords(line, err))
		}
		if err := f.Header.check(); err != nil {
			f.Header = Header{}
			return err
		}
		f.Header.upgrade()
		*seenHeader = true
		return nil
	}
	switch kind {
	case KindTrial, KindSearch:
		var t Trial
		if err := json.Unmarshal(line, &t); err != nil {
			return t.Refuse(inWords(line, err))
		}
		if err := f.Header.checkSubject(t); err != nil {
			return err
		}
		if err := t.check(); err != nil {
			return err
		}
		if err := head.parts.check(t); err != nil {
			return err
		}
		t.Line = number
		if kind == KindSearch {
			f.Searches = append(f.Searches, t)
		} else {
			f.Trials = append(f.Trials, t)
		}
	case KindHeader:
		return errors.New("a second header: one result file holds one run; split the file here")
	case "":
		return fmt.Errorf("a line without a kind: want \"kind\":%q: %s", KindTrial, mendTrial)
	default: // a later bakeoff may add lines without changing what these mean
		f.warn(WarnUnknownLine, "a line of the unknown kind %q was skipped", kind)
	}
	return nil
}

func (f *File) warn(kind, format string, args ...any) {
	w := Warning{Kind: kind, Text: fmt.Sprintf(format, args...)}
	if n := len(f.Warnings); n > 0 && f.Warnings[n-1] == w {
		return // a hundred lines of one unknown kind are one warning
	}
	f.Warnings = append(f.Warnings, w)
}

// cutShort tells JSON that stops too early from JSON that is wrong.
func cutShort(err error) bool {
	var s *json.SyntaxError
	return errors.As(err, &s) && stopsEarly(s)
}

// column is where in its line an error stands, from 1; errors about the whole line stand at its start.
func column(err error) int64 {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return max(s.Offset, 1)
	}
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return max(t.Offset, 1)
	}
	return 1
}

// lineReader gives lines of up to MaxLine bytes; bufio.Scanner would not tell whether the last one had an end.
type lineReader struct {
	r   *bufio.Reader
	n   int // the number of the line last given, from 1
	buf []byte
}

// next gives a line without its end, valid until the next call; whole says that it had an end. With io.EOF comes
// what stood behind the last line end.
func (l *lineReader) next() (line []byte, whole bool, err error) {
	l.n++
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(part) > MaxLine {
			return nil, false, fmt.Errorf("a line longer than %d MiB: %s", MaxLine>>20, mendTrial)
		}
		l.buf = append(l.buf, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line := l.buf
		if l.n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // editors on Windows add a byte-order mark
		}
		if err == nil {
			return line[:len(line)-1], true, nil
		}
		return line, false, err
	}
}
