package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

func TestHostileNames(t *testing.T) {
	name := "a\x1b[2J|b\n<script>`*_](http://x)\u202e"
	tables := build(t, fileOf([]string{name}, small(name, 1, 1, 1, 1)), "")
	for _, row := range []struct {
		format Format
		label  string // as the name must stand there
		never  []string
	}{
		{Text, "a\ufffd[2J|b <script>`*_](http://x)\ufffd @ 10", []string{"\x1b", "\u202e"}},
		{Markdown, "a\ufffd[2J\\|b &lt;script&gt;\\`\\*\\_]\\(http://x)\ufffd @ 10", []string{"\x1b", "\u202e", "<script>", "](http"}},
	} {
		s := render(t, row.format, tables)
		if !strings.Contains(s, row.label) {
			t.Errorf("%s: no %q in:\n%s", row.format.Name, row.label, s)
		}
		for _, bad := range row.never {
			if strings.Contains(s, bad) {
				t.Errorf("%s: %q gets through", row.format.Name, bad)
			}
		}
	}
}

// TestHostileFile has a trap in every text that a file can bring along, and in what is chosen of it.
func TestHostileFile(t *testing.T) {
	const bad = "x\x1b[2J\u009b2J\x07\u202e\r\n"
	one := func(subject string, conns int) result.Trial {
		tr := small(subject, 1, 1, 1, 1)
		tr.Conns, tr.Workload, tr.Mode, tr.Rate, tr.Arrivals, tr.Store = conns, bad, result.ModeOpen, bad, bad, "aerospike://"+bad
		tr.Outcomes.Dropped = 8
		tr.Warnings = []result.Warning{{Kind: bad, Text: bad}, {Kind: FlagDriverLimited, Text: bad}}
		tr.Examples = []result.Example{{Class: bad, Message: bad, Count: 1}}
		tr.Outcomes.Failed = map[string]uint64{bad: 2}
		for _, step := range []string{bad, "y" + bad} {
			tr.Histograms = append(tr.Histograms, times(t, step, result.OutcomeOK, result.TimeResponse, 100, 1e-3))
		}
		return tr
	}
	failed := small("a"+bad, 2, 1, 1, 1)
	failed.Error = bad
	f := fileOf([]string{"a" + bad, "b" + bad}, one("a"+bad, 1), one("b"+bad, 2), one("c"+bad, 3), failed)
	f.Name = bad
	h := &f.Header
	h.Experiment, h.Version, h.Command, h.Baseline = bad, bad, []string{bad}, "a"+bad
	h.Precision = &result.Precision{Figure: "throughput", Target: 0.1, First: 1}
	h.Warnings = []result.Warning{{Kind: bad, Text: bad}}
	h.Settings = json.RawMessage(`{"\u001b":"\u001b\u009b"}`)
	h.Subjects = append(h.Subjects, result.Subject{Name: "c" + bad, Doc: bad, Differences: []string{bad}})
	h.Env = result.Environment{CPUModel: bad, Kernel: bad, OS: bad, Arch: bad, Go: bad, Container: bad, GoEnv: map[string]string{bad: bad}, Modules: map[string]string{bad: bad}, Git: bad, GitWorkingDirectory: bad}
	g := f
	g.Header.Env, g.Header.Experiment, g.Trials = result.Environment{}, "e", g.Trials[:1]
	harmless := func(what, s string) {
		t.Helper()
		if at := strings.IndexAny(s, "\x1b\u009b\x07\u202e\r"); at >= 0 {
			t.Errorf("%s lets a control character through: %q", what, s[max(0, at-60):at+10])
		}
	}
	for _, rankFlagged := range []bool{false, true} {
		tables, err := Build(f, Options{RankFlagged: rankFlagged})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []Format{Text, Wide, Markdown, BenchFmt, HTML, GHZLike, JUnit, Prometheus, ADR} {
			harmless(format.Name, render(t, format, tables))
		}
		limit, err := ParseLimit("throughput<-5%")
		if err != nil {
			t.Fatal(err)
		}
		c, err := Compare(f, g, ChangeOptions{RankFlagged: rankFlagged, Limits: []Limit{limit}, Control: "a" + bad})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range ChangeFormats[:2] { // for people
			var b bytes.Buffer
			if err := format.Write(&b, c); err != nil {
				t.Fatal(err)
			}
			harmless("comparison as "+format.Name, b.String())
		}
	}
}

// TestHostileRuns has traps in the names of files, subjects and notes of runs side by side.
func TestHostileRuns(t *testing.T) {
	const bad = "x\x1b[2J\u009b2J\x07\u202e\r\n|"
	a := fileOf([]string{bad}, small(bad, 1, 1, 1, 1))
	b := fileOf([]string{bad}, small(bad, 1, 1, 1, 1))
	a.Name, b.Name, b.Header.Experiment = bad, "y"+bad, bad
	b.Header.Subjects[0].Conformant, b.Header.Subjects[0].Unchecked = false, bad
	b.Header.Warnings = []result.Warning{{Kind: bad, Text: bad}}
	laid, err := LayBeside(merge(t, a, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range BesideFormats {
		var out bytes.Buffer
		if err := f.Write(&out, laid); err != nil {
			t.Fatal(err)
		}
		if at := bytes.IndexAny(out.Bytes(), "\x1b\u009b\x07\u202e\r"); at >= 0 && f.Name != JSON.Name && f.Name != CSV.Name {
			t.Errorf("%s lets a control character through: %q", f.Name, out.Bytes()[max(0, at-60):at+10])
		}
	}
}
