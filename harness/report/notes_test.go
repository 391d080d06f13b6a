package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

func TestNotesAreFolded(t *testing.T) {
	type doubt struct{ kind, text, row string }
	for _, row := range []struct {
		name   string
		doubts []doubt
		want   []string
		marks  []int
	}{
		{"counts alone", []doubt{{FlagTooFewSamples, "too few calls: 8259 in round 1, 10000 are needed", "a"}, {FlagTooFewSamples, "too few calls: 987 in round 1, 10000 are needed", "b"},
			{FlagTooFewSamples, "too few calls: 1000 in round 1, 10000 are needed", "c"}},
			[]string{"a, b, c: too few calls: 987 to 8259 in round 1, 10000 are needed"}, []int{1, 1, 1}},
		{"a number that is a name", []doubt{{FlagTooFewSamples, "too few calls: 1 in round 1, 2 are needed", "a"}, {FlagTooFewSamples, "too few calls: 1 in round 3, 2 are needed", "b"}},
			[]string{"a: too few calls: 1 in round 1, 2 are needed", "b: too few calls: 1 in round 3, 2 are needed"}, []int{1, 2}},
		{"shares and powers of ten", []doubt{{"drift", "drift in 1 of 8 rounds: fell by 67 % (10 slices, p = 0.00012)", "a"}, {"drift", "drift in 2 of 8 rounds: fell by 9% (10 slices, p = 8.3e-05)", "b"},
			{"drift", "drift in 3 of 8 rounds: fell by 21 % (10 slices, p = 8.3e-05)", "c"}},
			[]string{"a, c: drift in 1 to 3 of 8 rounds: fell by 21 to 67 % (10 slices, p = 8.3e-05 to 0.00012)", "b: drift in 2 of 8 rounds: fell by 9% (10 slices, p = 8.3e-05)"}, []int{1, 2, 1}},
		{"signs", []doubt{{"little", "is 9 (-12 %): odd", "a"}, {"little", "is 9 (+5 %): odd", "b"}}, []string{"a, b: is 9 (-12 to +5 %): odd"}, []int{1, 1}},
		{"numbers within words", []doubt{{"throttled", "held up for 2m0s in sum", "a"}, {"throttled", "held up for 1m30s in sum", "b"}},
			[]string{"a: held up for 2m0s in sum", "b: held up for 1m30s in sum"}, []int{1, 2}},
		{"another kind", []doubt{{"little", "5 calls", "a"}, {"drift", "6 calls", "b"}}, []string{"a: 5 calls", "b: 6 calls"}, []int{1, 2}},
		{"a kind whose numbers may be names", []doubt{{"shared_cpu", "share CPU 1", "a"}, {"shared_cpu", "share CPU 2", "b"}, {"shared_cpu", "share CPU 1", "c"}},
			[]string{"a, c: share CPU 1", "b: share CPU 2"}, []int{1, 2, 1}},
		{"the same twice", []doubt{{FlagDropped, "never started: 3 calls", "a"}, {FlagDropped, "never started: 3 calls", "a"}}, []string{"a: never started: 3 calls"}, []int{1, 1}},
		{"one and several", []doubt{{FlagDropped, "never started: 1 call", "a"}, {FlagDropped, "never started: 3 calls", "b"}}, []string{"a: never started: 1 call", "b: never started: 3 calls"}, []int{1, 2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var d document
			var marks []int
			for _, n := range row.doubts {
				marks = append(marks, d.note(n.kind, n.text, n.row))
			}
			var got []string
			for _, n := range d.doubts {
				got = append(got, strings.Join(n.rows, ", ")+": "+n.text())
			}
			if diff := cmp.Diff(row.want, got); diff != "" || !slices.Equal(marks, row.marks) {
				t.Errorf("marks %v, want %v; notes (-want +got):\n%s", marks, row.marks, diff)
			}
		})
	}
}

// TestFoldedInFormats: rows that lack a percentile for want of calls have one note in what people read, and each its own count in what programs read.
func TestFoldedInFormats(t *testing.T) {
	file := fileOf([]string{"a", "b"})
	for round := 1; round <= 6; round++ {
		for i, name := range file.Header.Subjects {
			tr := small(name.Name, round, 1, 1e-6, 1e-6)
			tr.Histograms = append(tr.Histograms, times(t, "s", "ok", "response", int64(500+100*i), 1e-3))
			file.Trials = append(file.Trials, tr)
		}
	}
	tables := build(t, file, "")
	const one = "latency_p999 is unknown: too few calls: 500 to 600 in round 1, 10000 are needed"
	for _, f := range []Format{Text, Wide, Markdown, HTML, ADR} {
		text := strings.Join(strings.Fields(strings.ReplaceAll(render(t, f, tables), `\_`, "_")), " ")
		if strings.Count(text, one) != 1 || strings.Count(text, "too few calls:") != 1 {
			t.Errorf("%s: want once %q in\n%s", f.Name, one, text)
		}
	}
	for _, count := range []string{"500", "600"} {
		if want := "too few calls: " + count + " in round 1, 10000 are needed"; !strings.Contains(render(t, JSON, tables), want) {
			t.Errorf("json lacks %q", want)
		}
	}
}

// TestRisksNameRows: a doubt about every row is of all rows, and one about some names them, with their workloads where there are several.
func TestRisksNameRows(t *testing.T) {
	file := fileOf([]string{"a", "b"})
	for _, workload := range []string{"v", "w"} {
		for _, s := range file.Header.Subjects {
			tr := small(s.Name, 1, 1, 1e-6, 1e-6)
			tr.Workload, tr.Outcomes = workload, result.Outcomes{Started: 5, OK: 5}
			if s.Name == "a" && workload == "w" {
				tr.Outcomes.CutOff = 1
			}
			file.Trials = append(file.Trials, tr)
		}
	}
	_, risks, _ := strings.Cut(render(t, ADR, build(t, file, "")), "\n## Risks\n")
	for _, want := range []string{"] all rows: one round: nothing is known about the spread", "] a @ 10 with w: the calls that were started are not those"} {
		if !strings.Contains(risks, want) {
			t.Errorf("the risks lack %q:\n%s", want, risks)
		}
	}
}

// TestRisksNameConnections: that the subjects differ in their connections stands among the risks of a decision, in a sentence and at each row.
func TestRisksNameConnections(t *testing.T) {
	_, risks, _ := strings.Cut(render(t, ADR, load(t, "complete")), "\n## Risks\n")
	for _, want := range []string{"- The connections differ (grpc 1 x 50, thrift 50 x 1,", "] thrift @ 50, http @ 50: other connections: 50 x 1 against 1 x 50 of grpc\n"} {
		if !strings.Contains(risks, want) {
			t.Errorf("the risks lack %q:\n%s", want, risks)
		}
	}
}
