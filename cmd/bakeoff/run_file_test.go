package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// Every built-in experiment names what there is: its printed file is held to the same checks as a user's.
func TestExperimentsNameWhatThereIs(t *testing.T) {
	for _, e := range plan.All() {
		for _, s := range []plan.Settings{e.Defaults, e.Quick} {
			if len(s.Subjects) == 0 {
				continue
			}
			s.Subjects = e.Expand(s.Subjects)
			text, err := e.Print(s)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := readExperiment(e.Name+".yaml", string(text)); err != nil {
				t.Error(err)
			}
		}
	}
}

// The pages of docs/experiments are about what there is: the list leads to a page of every experiment, with a result, and the command at the head of
// each page is one.
func TestExperimentPages(t *testing.T) {
	const dir = "../../docs/experiments/"
	index, err := os.ReadFile(dir + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range plan.All() {
		if !strings.Contains(string(index), "| ["+e.Name+"]("+e.Name+".md) |") {
			t.Errorf("%s is not in the list of %sREADME.md", e.Name, dir)
		}
		page, err := os.ReadFile(dir + e.Name + ".md")
		if err != nil || !strings.Contains(string(page), "\n    bakeoff run "+e.Name) || !strings.Contains(string(page), "<!-- result -->\n    bakeoff "+e.Name+"\n") {
			t.Errorf("%s has no page with its command and its result: %v", e.Name, err)
		}
	}
	pages, err := filepath.Glob(dir + "*.md")
	if err != nil || len(pages) < 2 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "<!-- result -->") {
			continue
		}
		_, command, _ := strings.Cut(string(text), "\n    bakeoff ")
		command, _, _ = strings.Cut(command, "\n")
		if r := bakeoff(t, append(strings.Fields(command), "--print")...); r.code != exitOK {
			t.Errorf("%s: bakeoff %s: exit code %d: %s", page, command, r.code, r.err)
		}
	}
	// The file that the list shows as an example.
	_, example, ok := strings.Cut(string(index), "\n    name: ")
	var file strings.Builder
	for line := range strings.Lines("    name: " + example) {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		file.WriteString(strings.TrimPrefix(line, "    "))
	}
	if _, err := readExperiment("README.md", file.String()); !ok || err != nil {
		t.Errorf("the example: %v\n%s", err, file.String())
	}
}

func TestExperimentFileUsage(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.yaml", "name: good\nsubjects: [http]\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"run", dir + "/none.yaml"}, []string{"none.yaml", "no such file"}},
		{[]string{"run", dir}, []string{dir, "is a directory"}},
		{[]string{"run", file("big.yaml", strings.Repeat("#", plan.MaxFile+1))}, []string{"big.yaml:1:1: it has more than 16384 bytes"}},
		{[]string{"run", file("subject.yaml", "name: x\nsubjects: [grpc, htpt]\n")}, []string{`subject.yaml:2:18: unknown subject "htpt": did you mean "http"?`}},
		{[]string{"run", file("workload.yaml", "name: x\nsubjects: [grpc]\nworkloads:\n  - datatpye\n")}, []string{`workload.yaml:4:5: unknown workload "datatpye"`}},
		{[]string{"run", file("rate.yaml", "name: x\nsubjects: [grpc]\nrates: [500, fast]\n")}, []string{`rate.yaml:3:14: `, "fast"}},
		{[]string{"run", file("of.yaml", "name: x\nsubjects: [v]\nvariants:\n  - {name: v, of: grcp, options: {reflection: on}}\n")}, []string{`of.yaml:4:5: variant v: unknown subject "grcp"`}},
		{[]string{"run", file("option.yaml", "name: x\nsubjects: [v]\nvariants:\n  - {name: v, of: grpc, options: {windw: 1}}\n")}, []string{"option.yaml:4:5: variant v: ", `"windw"`, "window"}},
		{[]string{"run", file("value.yaml", "name: x\nsubjects: [grpc]\nvariants:\n  - {name: v, of: thrift, options: {transport: bare}}\n")}, []string{"value.yaml:4:5: ", `transport="bare"`}},
		{[]string{"run", file("taken.yaml", "name: x\nsubjects: [http]\nvariants:\n  - {name: http, of: grpc, options: {reflection: on}}\n")}, []string{"taken.yaml:4:5: ", "there is a subject of that name"}},
		{[]string{"run", good, "--quick"}, []string{"--quick", "good has no short form"}},
		{[]string{"run", good, "--print", "--auth"}, []string{"--auth with --print", "give it when the file is run"}},
		{[]string{"run", "payload", "--auth"}, []string{"--auth: the workload payload-0 can't have it"}},
		{[]string{"run", "datatype", "--conns", "1,1"}, []string{"conns 1: it stands there twice"}},
	} {
		r := bakeoff(t, c.args...)
		if r.code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", c.args, r.code, exitUsage)
		}
		wantAll(t, r.err, c.want...)
	}
}

// An experiment is printed, run as a file, interrupted (here: cut short), and resumed by what its results say, though the file is gone.
func TestRunOfAFile(t *testing.T) {
	dir := t.TempDir()
	printed := bakeoff(t, "run", "connections", "--print", "--subjects", "http", "--conns", "1,0", "--concurrency", "2", "--rounds", "2", "--duration", "50ms", "--warmup", "0s")
	if printed.code != exitOK {
		t.Fatalf("exit code %d: %s", printed.code, printed.err)
	}
	path, results := filepath.Join(dir, "mine.yaml"), filepath.Join(dir, "r.jsonl")
	text := strings.Replace(printed.out, "name: connections", "name: mine", 1)
	if err := os.WriteFile(path, []byte("\ufeff"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	r := bakeoff(t, "run", path, "--store", "memory", "--results", results)
	measured(t, r)
	wantAll(t, r.out, "http (1 conn) @ 2", "http (2 conns) @ 2", "What more connections change in throughput")
	f, err := result.ReadFile(results)
	if err != nil || f.Header.Experiment != "mine" || len(f.Trials) != 4 {
		t.Fatalf("%d trials of %q, %v", len(f.Trials), f.Header.Experiment, err)
	}

	whole, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(whole)))
	if err := os.WriteFile(results, []byte(strings.Join(lines[:3], "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"# changed\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	other := bakeoff(t, "run", path, "--resume", results)
	if other.code != exitUsage {
		t.Errorf("with another file: exit code %d", other.code)
	}
	wantAll(t, other.err, "the experiment mine is not the one of then")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	measured(t, bakeoff(t, "run", "--resume", results))
	if f, err = result.ReadFile(results); err != nil || len(f.Trials) != 4 {
		t.Errorf("%d trials after it was resumed, want 4: %v", len(f.Trials), err)
	}
}

// TestRunWithoutAName: the first question alone; the experiment that is named has all its levels, or those that are given.
func TestRunWithoutAName(t *testing.T) {
	const all = "concurrency: [50, 100, 200, 400, 800]\n"
	for args, want := range map[string]string{
		"":                      "concurrency: [50]\n",
		"datatype":              all,
		"--quick":               "concurrency: [50, 800]\n",
		"datatype --quick":      "concurrency: [50, 800]\n",
		"--concurrency 7":       "concurrency: [7]\n",
		"datatype --rounds 3":   all,
		"--rounds 3 --seed 123": "concurrency: [50]\n",
	} {
		r := bakeoff(t, slices.Concat([]string{"run", "--print"}, strings.Fields(args))...)
		if r.code != exitOK || !strings.Contains(r.out, want) {
			t.Errorf("run %s: exit code %d, want %q in: %s%s", args, r.code, want, r.out, r.err)
		}
	}
}
