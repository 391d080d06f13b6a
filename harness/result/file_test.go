package result

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const headLine = `{"schema":1,"kind":"bakeoff-header","experiment":"datatype","planned":2}` + "\n"
const trialLine = `{"kind":"bakeoff-trial","subject":"grpc","round":1,"concurrency":50}` + "\n"

func TestWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "run.jsonl")
	h := Header{Version: "v0", Experiment: "datatype", Started: time.Unix(1700000000, 0).UTC(), Command: []string{"bakeoff", "run"}, Seed: math.MaxUint64,
		Planned: 2, Settings: []byte(`{"rounds":1}`), Subjects: []Subject{{Name: "語音<&>", Conformant: true}}, Env: Environment{CPUs: 2}}
	w, err := Create(path, h, false)
	if err != nil {
		t.Fatal(err)
	}
	trials := []Trial{
		{Subject: "語音<&>", Workload: "datatype", Mode: "closed", Concurrency: 50, Conns: 1, Round: 1, Order: 1, Seed: 1<<63 + 1, Window: 2, Elapsed: 2.01,
			Outcomes: Outcomes{Started: 10, OK: 7, Failed: map[string]uint64{"timeout": 2}, CutOff: 1}, Values: map[string]float64{Throughput: 3.5, ServerCPU: 1e-9}},
		{Subject: "http", Round: 1, Error: "the server died: \"exit status 1\"\nlast words"},
	}
	for i, tr := range trials {
		if err := w.Append(tr); err != nil {
			t.Fatal(err)
		}
		f, err := ReadFile(path) // before Close: what is appended is there for a reader
		if err != nil || len(f.Trials) != i+1 {
			t.Fatalf("after trial %d: %d trials, %v", i+1, len(f.Trials), err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(trials[0]); !errors.Is(err, os.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	f, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h.Schema, h.Kind = Schema, KindHeader
	for i := range trials {
		trials[i].Kind, trials[i].Line = KindTrial, i+2 // the header is line 1
	}
	if d := cmp.Diff(File{Name: path, Header: h, Trials: trials}, f, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old.jsonl")
	if err := os.WriteFile(old, []byte("precious"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		path string
		want error
	}{
		{old, fs.ErrExist},
		{filepath.Join(old, "below", "a-file.jsonl"), syscall.ENOTDIR},
		{dir, fs.ErrExist}, // a folder
	} {
		_, err := Create(row.path, Header{}, false)
		if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.path) {
			t.Errorf("Create(%s) = %v, want %v and the path", row.path, err, row.want)
		}
	}
	if b, _ := os.ReadFile(old); string(b) != "precious" {
		t.Errorf("the old file is now %q", b)
	}
	w, err := Create(old, Header{}, true)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if f, err := ReadFile(old); err != nil || f.Header.Schema != Schema {
		t.Errorf("overwritten file: %+v, %v", f.Header, err)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	_, err := Create("/dev/full", Header{}, true)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("got %v, want no space and the path", err)
	}
}

// disk has room for room bytes, then takes half lines.
type disk struct {
	bytes.Buffer
	room        int
	truncateErr error
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.room-d.Len())
	d.Buffer.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}
func (d *disk) Close() error { return nil }
func (d *disk) Truncate(n int64) error {
	if d.truncateErr == nil {
		d.Buffer.Truncate(int(n))
	}
	return d.truncateErr
}

func TestDiskFillsUp(t *testing.T) {
	for _, row := range []struct {
		name        string
		truncateErr error
		appendAgain bool // once there is room
	}{
		{"the half line is taken back", nil, true},
		{"the half line stays", syscall.EIO, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := &disk{room: 1 << 20, truncateErr: row.truncateErr}
			w := &Writer{name: "run.jsonl", out: d}
			if err := errors.Join(w.writeHeader(Header{}), w.Append(Trial{Subject: "a", Round: 1})); err != nil {
				t.Fatal(err)
			}
			d.room = d.Len() + 10
			if err := w.Append(Trial{Subject: "b", Round: 2}); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "run.jsonl") {
				t.Fatalf("got %v, want no space and the name", err)
			}
			f, err := Read(bytes.NewReader(d.Bytes()), "x")
			if err != nil || len(f.Trials) != 1 {
				t.Fatalf("what was written before: %d trials, %v", len(f.Trials), err)
			}
			d.room = 1 << 20
			if err := w.Append(Trial{Subject: "c", Round: 3}); (err == nil) != row.appendAgain {
				t.Fatalf("append again: %v", err)
			}
			f, err = Read(bytes.NewReader(d.Bytes()), "x")
			if want := map[bool]int{true: 2, false: 1}[row.appendAgain]; err != nil || len(f.Trials) != want {
				t.Errorf("at the end: %d trials, want %d, %v", len(f.Trials), want, err)
			}
		})
	}
}

func TestNoNaNIsWritten(t *testing.T) {
	d := &disk{room: 1 << 20}
	w := &Writer{name: "run.jsonl", out: d}
	err := w.Append(Trial{Subject: "grpc", Round: 3, Values: map[string]float64{Throughput: math.NaN()}})
	if err == nil || !strings.Contains(err.Error(), "grpc, round 3") || d.Len() > 0 {
		t.Errorf("got %v and %d bytes, want an error that names the trial, and none", err, d.Len())
	}
}

func TestRead(t *testing.T) {
	for _, row := range []struct {
		name, in string
		trials   int
		warn     string // kind of the only warning
	}{
		{"header only", headLine, 0, ""},
		{"header without an end", strings.TrimSpace(headLine), 0, ""},
		{"two trials", headLine + trialLine + trialLine, 2, ""},
		{"a last line without an end", headLine + trialLine + strings.TrimSpace(trialLine), 2, ""},
		{"a last line cut short", headLine + trialLine + trialLine[:30], 1, WarnTruncated},
		{"a last line cut inside a string", headLine + trialLine[:12], 0, WarnTruncated},
		{"a last line of one byte", headLine + "{", 0, WarnTruncated},
		{"byte-order mark", "\xef\xbb\xbf" + headLine + trialLine, 1, ""},
		{"blank lines and Windows line ends", "\n\r\n" + headLine + "\r\n \t\n" + strings.ReplaceAll(trialLine, "\n", "\r\n") + "\n\n", 1, ""},
		{"unknown fields", headLine + strings.Replace(trialLine, "{", `{"new":{"x":[1]},`, 1), 1, ""},
		{"unknown kinds", headLine + strings.Repeat(`{"kind":"bakeoff-timeline"}`+"\n", 3) + trialLine, 1, WarnUnknownLine},
		{"a long line", headLine + strings.Replace(trialLine, "{", `{"new":"`+strings.Repeat("x", 3<<20)+`",`, 1), 1, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := Read(strings.NewReader(row.in), "f")
			if err != nil {
				t.Fatal(err)
			}
			if f.Header.Experiment != "datatype" || len(f.Trials) != row.trials {
				t.Errorf("experiment %q, %d trials, want datatype, %d", f.Header.Experiment, len(f.Trials), row.trials)
			}
			var kinds []string
			for _, w := range f.Warnings {
				kinds = append(kinds, w.Kind)
			}
			if strings.Join(kinds, " ") != row.warn {
				t.Errorf("warnings %v, want %q", f.Warnings, row.warn)
			}
		})
	}
}

func TestReadSaysWhere(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"empty", "", "f:1:1: no header"},
		{"only blank lines", "\n\n", "f:1:1: no header"},
		{"cut inside the header", headLine[:20], "f:1:20: not a bakeoff result file: the first line must be the header, a JSON object with \"kind\":\"bakeoff-header\": unexpected end of JSON input"},
		{"no JSON", headLine + "\nhello\n", "f:3:1: invalid character 'h'"},
		{"wrong comma", headLine + `{"kind":"bakeoff-trial",,}` + "\n", "f:2:25: invalid character ','"},
		{"cut in the middle of the file", headLine + trialLine[:30] + "\n" + trialLine, "f:2:30: unexpected end of JSON input"},
		{"two lines glued", headLine + trialLine[:30] + trialLine, "f:2:33: invalid character 'k'"},
		{"two documents", headLine + strings.TrimSpace(trialLine) + trialLine, "f:2:69: invalid character '{' after top-level value"},
		{"wrong type", headLine + `{"kind":"bakeoff-trial","subject":"a","round":"1"}` + "\n", "f:2:49: json: cannot unmarshal string into Go struct field Trial.round of type int"},
		{"other file", `{"a":1}`, "f:1:1: not a bakeoff result file"},
		{"trial first", trialLine, "f:1:1: not a bakeoff result file"},
		{"an array", "[]", "f:1:1: not a bakeoff result file: the first line must be the header, a JSON object with \"kind\":\"bakeoff-header\": it has the type array"},
		{"newer", `{"schema":3,"kind":"bakeoff-header","seed":"now a string"}`, "f:1:1: schema 3 is newer than 2"},
		{"no schema", `{"kind":"bakeoff-header"}`, "f:1:1: the header has no schema version"},
		{"two headers", headLine + headLine, "f:2:1: a second header"},
		{"no kind", headLine + "{}\n", "f:2:1: a line without a kind"},
		{"null", headLine + "null\n", "f:2:1: a line without a kind"},
		{"no subject", headLine + `{"kind":"bakeoff-trial","round":1}`, "f:2:1: a trial without a subject"},
		{"round 0", headLine + `{"kind":"bakeoff-trial","subject":"a"}`, "f:2:1: a trial of a with round 0"},
		{"negative", headLine + `{"kind":"bakeoff-trial","subject":"a","round":1,"conns":-1}`, "f:2:1: a trial of a with concurrency 0 and conns -1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(row.in), "f")
			if err == nil || !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("got  %v\nwant %s...", err, row.want)
			}
		})
	}
}

func TestReadPassesErrorsOn(t *testing.T) {
	f, err := Read(io.MultiReader(strings.NewReader(headLine+trialLine+"{"), errReader{}), "f")
	if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "f:3:1: ") || len(f.Trials) != 1 {
		t.Errorf("got %v and %d trials, want the reader's error at f:3:1 and 1", err, len(f.Trials))
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

var errBroken = errors.New("broken")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errBroken }

// endless gives a header and then a line without an end.
type endless struct {
	head io.Reader
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.head.Read(p); err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	e := &endless{head: strings.NewReader(headLine)}
	_, err := Read(e, "f")
	if want := "f:2:1: a line longer than 64 MiB"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if e.read > MaxLine+1<<20 {
		t.Errorf("read %d bytes before it gave up", e.read)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(headLine + trialLine))
	f.Add([]byte("\xef\xbb\xbf" + headLine + "\n" + trialLine[:40]))
	f.Add([]byte(headLine + fmt.Sprintf(`{"kind":"bakeoff-trial","subject":"a","round":1,"histograms":[{"data":%q,"count":3}]}`, goodHistogram(f).Data)))
	f.Add([]byte(`{"schema":9}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		file, err := Read(bytes.NewReader(in), "f")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("the error does not say where: %v", err)
			}
			return
		}
		if file.Header.Schema != Schema {
			t.Errorf("accepted schema %d", file.Header.Schema)
		}
		d := &disk{room: math.MaxInt}
		w := &Writer{name: "again", out: d}
		if err := w.writeHeader(file.Header); err != nil {
			t.Fatal(err)
		}
		for _, tr := range file.Trials {
			if err := w.Append(tr); err != nil {
				t.Fatal(err)
			}
			for _, h := range tr.Histograms {
				_, _ = h.Decode() // must not panic
			}
		}
		again, err := Read(&d.Buffer, "f")
		if err != nil || len(again.Trials) != len(file.Trials) {
			t.Errorf("what was read and written reads as %d trials instead of %d, %v", len(again.Trials), len(file.Trials), err)
		}
	})
}
