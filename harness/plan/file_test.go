package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What is printed of each experiment is read as that experiment.
func TestPrintedExperimentsAreRead(t *testing.T) {
	for _, e := range All() {
		for _, s := range []Settings{e.Defaults, e.Quick} {
			if len(s.Subjects) == 0 {
				continue
			}
			s.Subjects = e.Expand(s.Subjects)
			text, err := e.Print(s)
			if err != nil {
				t.Fatal(err)
			}
			f, err := ReadFile(e.Name+".yaml", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			want := Experiment{Name: e.Name, Doc: e.Doc, Variants: e.Variants, Defaults: s}
			if d := cmp.Diff(want, f.Experiment, cmpopts.IgnoreFields(Experiment{}, "Trials"), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", e.Name, d, text)
			}
		}
	}
}

func TestReadFile(t *testing.T) {
	text := "\ufeff# a comment\r\nname: mine\r\nvariants:\r\n  - {name: r, of: grpc, options: {reflection: on, window: 70000}}\r\nsubjects: [grpc, r]\r\nconnections: [1, matched]\r\n" +
		"rates: [500, 1000..2000]\r\nconcurrency: 8\r\nduration: 300ms\r\n"
	f, err := ReadFile("mine.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := Experiment{Name: "mine", Variants: []Variant{{"r", "grpc", map[string]string{"reflection": "on", "window": "70000"}}},
		Defaults: Settings{Subjects: []string{"grpc", "r"}, Workloads: []string{"datatype"}, Concurrency: []int{8}, Conns: []int{1, 0}, Rates: []string{"500", "1000..2000"},
			Rounds: 10, Duration: 300 * time.Millisecond, Warmup: 500 * time.Millisecond}}
	if d := cmp.Diff(want, f.Experiment, cmpopts.IgnoreFields(Experiment{}, "Trials")); d != "" {
		t.Error(d)
	}
	if got, want := f.At("subjects", 1, errTest).Error(), "mine.yaml:5:18: test"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	trials, err := f.Plan(f.Defaults)
	if err != nil || len(trials) != 2*2*2*10 {
		t.Errorf("%d trials, %v", len(trials), err)
	}
}

type testError string

func (e testError) Error() string { return string(e) }

const errTest = testError("test")

func TestBadFiles(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"empty", "", "x.yaml:1:1: the file is empty"},
		{"only a comment", "# nothing\n", "x.yaml:1:1: the file is empty"},
		{"UTF-16", "\xff\xfen\x00", "x.yaml:1:1: it is UTF-16: save it as UTF-8"},
		{"a list", "- a\n- b\n", "x.yaml:1:1: an experiment must be keys with values"},
		{"no name", "subjects: [grpc]\n", "name: there is none"},
		{"no subjects", "name: x\n", "x.yaml:1:1: subjects: there are none"},
		{"an unknown key", "name: x\nsubject: [grpc]\n", `x.yaml:2:1: unknown key of an experiment "subject": did you mean "subjects"?`},
		{"a name that is a path", "name: ../x\nsubjects: [a]\n", `x.yaml:1:7: name "../x": must be letters`},
		{"a key twice", "name: x\nname: y\n", "x.yaml:2:1: "},
		{"turns that there are not", "name: x\nsubjects: [a]\nturns: 4\n", "x.yaml:3:8: turns 4: it must be 1 (one trial after another), 2, 5 or 10"},
		{"text for a number", "name: x\nsubjects: [a]\nrounds: many\n", `x.yaml:3:9: "many": must be a whole number`},
		{"a fraction", "name: x\nsubjects: [a]\nconcurrency: [50, 1.5]\n", `x.yaml:3:19: "1.5": must be a whole number`},
		{"too few connections", "name: x\nsubjects: [a]\nconnections: [1, -2]\n", "x.yaml:3:18: conns -2: it must be 0"},
		{"a word for connections", "name: x\nsubjects: [a]\nconnections: [many]\n", `x.yaml:3:15: "many": must be a whole number, such as 50, or matched`},
		{"a level too high", "name: x\nsubjects: [a]\nconcurrency:\n  - 50\n  - 10001\n", "x.yaml:5:5: concurrency 10001: it must be from 1 to 10000"},
		{"a time without a unit", "name: x\nsubjects: [a]\nduration: 2\n", `x.yaml:3:11: "2": must be a time with its unit`},
		{"a subject twice", "name: x\nsubjects: [a, b, a]\n", `x.yaml:2:18: subjects: "a" stands there twice`},
		{"a mapping for a subject", "name: x\nsubjects: [{a: b}]\n", "must be a single value"},
		{"an alias", "name: &n x\nsubjects: [*n]\n", "x.yaml:1:7: must be a single value, without anchors"},
		{"half a variant", "name: x\nsubjects: [a]\nvariants:\n  - {name: v, of: grpc}\n", "a variant has a name, the subject that it is one of, and options"},
		{"a variant twice", "name: x\nsubjects: [a]\nvariants:\n  - {name: v, of: a, options: {b: c}}\n  - {name: v, of: a, options: {b: d}}\n", `x.yaml:5:5: variants: "v" stands there twice`},
		{"two documents", "name: x\nsubjects: [a]\n---\nname: y\n", "x.yaml:4:1: a second document begins"},
		{"deep", strings.Repeat("[", 4000), "x.yaml:1:4000: "},
		{"no YAML", "name: [x\n", "x.yaml:1:7: "},
		{"a tab", "name: x\nvariants:\n\t- a\n", "x.yaml:3:1: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := ReadFile("x.yaml", []byte(row.text))
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got  %v\nwant %s", err, row.want)
			}
		})
	}
}

// Whatever a file has, it is read or refused, and what is read can be printed and read again.
func FuzzReadFile(f *testing.F) {
	for _, e := range All() {
		text, err := e.Print(e.Defaults)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("name: x\nsubjects: [a]\nvariants: [{name: v, of: a, options: {b: |\n c\n}}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ReadFile("x.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.yaml:") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		text, err := file.Print(file.Defaults)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadFile("x.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := cmp.Diff(file.Experiment, again.Experiment, cmpopts.IgnoreFields(Experiment{}, "Trials"), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s\n%s", d, text)
		}
	})
}
