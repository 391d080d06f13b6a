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

const headLine = `{"schema":1,"kind":"bakeoff-header","experiment":"datatype","planned":2,"subjects":[{"name":"grpc"},{"name":"a"}]}` + "\n"
const trialLine = `{"kind":"bakeoff-trial","subject":"grpc","round":1,"concurrency":50,"window":2,` + noCalls + "}\n"

// noCalls are the outcomes of a trial in which none was made.
const noCalls = `"outcomes":{"started":0,"ok":0,"cut_off":0,"dropped":0}`

// ended is a trial in which three calls have ended, with more fields.
func ended(more string) string {
	return `{"kind":"bakeoff-trial","subject":"a","round":1,"messages":1,"window":1,"outcomes":{"started":3,"ok":2,"failed":{"timeout":1},"cut_off":0,"dropped":0},` + more + "}\n"
}

func TestWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "run.jsonl")
	h := Header{Version: "v0", Experiment: "datatype", Started: time.Unix(1700000000, 0).UTC(), Command: []string{"bakeoff", "run"}, Seed: math.MaxUint64,
		Planned: 2, Settings: []byte(`{"rounds":1}`), Subjects: []Subject{{Name: "語音<&>", Conformant: true}, {Name: "http"}}, Env: Environment{CPUs: 2}}
	w, err := Create(path, h, false)
	if err != nil {
		t.Fatal(err)
	}
	trials := []Trial{
		{Subject: "語音<&>", Workload: "datatype", Mode: "closed", Concurrency: 50, Conns: 1, Round: 1, Order: 1, Seed: 1<<63 + 1, Messages: 1, Window: 2, Elapsed: 2.01,
			Outcomes: Outcomes{Started: 10, OK: 7, Failed: map[string]uint64{"timeout": 2}, CutOff: 1}, Values: map[string]float64{Throughput: 3.5, ServerCPU: 1e-9}, Histograms: []Histogram{goodHistogram(t)}},
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
	w, err := Create(old, Header{Planned: 1}, true)
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
			if err := errors.Join(w.writeHeader(Header{Planned: 3, Subjects: []Subject{{Name: "a"}, {Name: "b"}, {Name: "c"}}}), w.Append(Trial{Subject: "a", Round: 1, Window: 1})); err != nil {
				t.Fatal(err)
			}
			d.room = d.Len() + 10
			if err := w.Append(Trial{Subject: "b", Round: 2, Window: 1}); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "run.jsonl") {
				t.Fatalf("got %v, want no space and the name", err)
			}
			f, err := Read(bytes.NewReader(d.Bytes()), "x")
			if err != nil || len(f.Trials) != 1 {
				t.Fatalf("what was written before: %d trials, %v", len(f.Trials), err)
			}
			d.room = 1 << 20
			if err := w.Append(Trial{Subject: "c", Round: 3, Window: 1}); (err == nil) != row.appendAgain {
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
		{"one that failed, and has no figures", headLine + `{"kind":"bakeoff-trial","subject":"a","round":1,"error":"the server died"}`, 1, ""},
		{"calls that all were cut off", headLine + `{"kind":"bakeoff-trial","subject":"a","round":1,"window":1,"outcomes":{"started":9,"ok":0,"cut_off":9,"dropped":0}}`, 1, ""},
		{"figures", headLine + ended(`"values":{"throughput":1},"histograms":[{"time":"response"}]`), 1, ""},
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
		{"cut inside the header", headLine[:20], "f:1:20: not a bakeoff result file: the first line must be the header, a JSON object with \"kind\":\"bakeoff-header\": the line stops in the middle"},
		{"no JSON", headLine + "\nhello\n", "f:3:1: the line is no JSON: it has 'h' where a value is to begin: the line was changed, or written by something else than 'bakeoff run': remove the line"},
		{"wrong comma", headLine + `{"kind":"bakeoff-trial",,}` + "\n", "f:2:25: the line is no JSON: it has ',' where a name in quotes is to stand: "},
		{"cut in the middle of the file", headLine + trialLine[:30] + "\n" + trialLine, "f:2:30: the line stops in the middle: the line was changed, or"},
		{"two lines glued", headLine + trialLine[:30] + trialLine, "f:2:33: the line is no JSON: it has 'k' where a colon is to stand: "},
		{"two documents", headLine + strings.TrimSpace(trialLine) + trialLine, "f:2:136: the line is no JSON: it has '{' behind the end of the JSON object: one stands on a line: "},
		{"wrong type", headLine + `{"kind":"bakeoff-trial","subject":"a","round":"1"}` + "\n", "f:2:49: a trial of a: \"round\" is a text: want a whole number that fits in 64 bits: "},
		{"other file", `{"a":1}`, "f:1:1: not a bakeoff result file"},
		{"trial first", trialLine, "f:1:1: not a bakeoff result file"},
		{"an array", "[]", "f:1:1: not a bakeoff result file: the first line must be the header, a JSON object with \"kind\":\"bakeoff-header\": the line is a list: want an object"},
		{"newer", `{"schema":3,"kind":"bakeoff-header","seed":"now a string"}`, "f:1:1: schema 3 is newer than 2"},
		{"no schema", `{"kind":"bakeoff-header"}`, "f:1:1: the header has no schema version"},
		{"two headers", headLine + headLine, "f:2:1: a second header"},
		{"no kind", headLine + "{}\n", "f:2:1: a line without a kind"},
		{"null", headLine + "null\n", "f:2:1: a line without a kind"},
		{"no subject", headLine + `{"kind":"bakeoff-trial","round":1}`, "f:2:1: a trial of round 1: it has no \"subject\": "},
		{"a subject of another run", headLine + trialLine + strings.Replace(trialLine, "grpc", "thrift", 1), "f:3:1: a trial of thrift, round 1, which is not among the header's subjects (it has grpc, a): " +
			"the line is of another run, or the header was changed: remove the line, or put the subject back into \"subjects\" of the first line"},
		{"a subject beside none", `{"schema":1,"kind":"bakeoff-header","planned":1}` + "\n" + trialLine, "f:2:1: a trial of grpc, round 1, which is not among the header's subjects (it has none): "},
		{"a search of another subject", headLine + `{"kind":"bakeoff-search","subject":"b","round":1,"error":"died"}`, "f:2:1: a trial of b, round 1, which is not among"},
		{"round 0", headLine + `{"kind":"bakeoff-trial","subject":"a"}`, "f:2:1: a trial of a: \"round\" is 0: rounds count from 1: "},
		{"negative", headLine + `{"kind":"bakeoff-trial","subject":"a","round":1,"conns":-1}`, "f:2:1: a trial of a, round 1: \"conns\" is -1: want 0 to 1e9: "},
		{"no window", headLine + `{"kind":"bakeoff-trial","subject":"a","round":1,` + noCalls + `}`, "f:2:1: a trial of a, round 1, without a \"window\", and without an \"error\" that says why: "},
		{"window 0", headLine + `{"kind":"bakeoff-trial","subject":"a","round":1,"window":0,` + noCalls + `}`, "f:2:1: a trial of a, round 1: \"window\" is 0 s: must be above 0: "},
		{"no outcomes", headLine + trialLine + `{"kind":"bakeoff-trial","subject":"a","round":2,"window":1}`, "f:3:1: a trial of a, round 2, without \"outcomes\", and"},
		{"null outcomes", headLine + `{"kind":"bakeoff-search","subject":"a","round":1,"window":1,"outcomes":null}`, "f:2:1: a trial of a, round 1, without \"outcomes\""},
		{"half of the outcomes", headLine + `{"kind":"bakeoff-trial","subject":"a","round":1,"messages":1,"window":1,"outcomes":{"started":3,"ok":3,"dropped":0}}`, "f:2:1: a trial of a, round 1, without the outcome \"cut_off\""},
		{"no values", headLine + ended(`"histograms":[{"time":"response"}]`), "f:2:1: a trial of a, round 1, without \"values\""},
		{"empty values", headLine + ended(`"values":{},"histograms":[{"time":"response"}]`), "f:2:1: a trial of a, round 1, without \"values\""},
		{"no histograms", headLine + ended(`"values":{"throughput":1}`), "f:2:1: a trial of a, round 1, without \"histograms\" of the 2 calls that succeeded"},
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
	if want := "f:2:1: a line longer than 64 MiB: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if e.read > MaxLine+1<<20 {
		t.Errorf("read %d bytes before it gave up", e.read)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(headLine + trialLine))
	f.Add([]byte("\xef\xbb\xbf" + headLine + "\n" + trialLine[:40]))
	f.Add([]byte(headLine + ended(fmt.Sprintf(`"values":{"throughput":1},"histograms":[{"time":"response","outcome":"ok","data":%q,"count":3}]`, goodHistogram(f).Data))))
	f.Add([]byte(`{"schema":9}`))
	f.Add([]byte(wholeHeader + "\n" + wholeLine))
	for _, row := range hostile {
		f.Add([]byte(strings.Replace(wholeHeader, row.from, row.to, 1) + "\n" + strings.Replace(wholeLine, row.from, row.to, 1)))
	}
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
			if !(tr.Window >= 0 && tr.Window <= maxSeconds) || tr.Round > maxRounds || tr.Outcomes.Started > maxNumber {
				t.Errorf("accepted a window of %v s, round %d, %d calls", tr.Window, tr.Round, tr.Outcomes.Started)
			}
			for name, v := range tr.Values {
				if math.Abs(v) > maxNumber {
					t.Errorf("accepted %s of %v", name, v)
				}
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
