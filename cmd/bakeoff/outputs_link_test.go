package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLinksToResults follows the link of a record from where it lies.
func TestLinksToResults(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"sub/deep", "results", "elsewhere/deep"} {
		if err := os.MkdirAll(in(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "elsewhere/deep", "kept": "results"} {
		if err := os.Symlink(to, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	sample(t, in("a.jsonl"))
	sample(t, in("results/100% #1?.jsonl"))
	t.Chdir(dir)
	for _, c := range []struct{ file, output, want string }{
		{"a.jsonl", "", "[a.jsonl](<a.jsonl>)"},
		{"./a.jsonl", "", "[a.jsonl](<./a.jsonl>)"},
		{"a.jsonl", "d.md", "[a.jsonl](<a.jsonl>)"},
		{"a.jsonl", "sub/d.md", "[a.jsonl](<../a.jsonl>)"},
		{"a.jsonl", "sub/deep/d.md", "[a.jsonl](<../../a.jsonl>)"},
		{"a.jsonl", in("sub/d.md"), "[a.jsonl](<../a.jsonl>)"},
		{in("a.jsonl"), "sub/d.md", "[a.jsonl](<" + in("a.jsonl") + ">)"},
		{"results/100% #1?.jsonl", "results/d.md", `[100% \#1?.jsonl](<100%25 %231%3F.jsonl>)`},
		{"kept/100% #1?.jsonl", "sub/d.md", `[100% \#1?.jsonl](<../kept/100%25 %231%3F.jsonl>)`},
		{"a.jsonl", "link/d.md", "[a.jsonl](<" + in("a.jsonl") + ">)"}, // link/.. is elsewhere
	} {
		args, read := []string{"report", c.file, "-o", "adr"}, func(r ran) string { return r.out }
		if c.output != "" {
			args[3] += "=" + c.output
			read = func(ran) string {
				b, err := os.ReadFile(c.output)
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
		}
		r := bakeoff(t, args...)
		if r.code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, r.code, r.err)
		}
		wantAll(t, read(r), "- "+c.want+": the raw results")
	}
	r := bakeoff(t, "report", "a.jsonl", "-o", "html=sub/r.html")
	b, err := os.ReadFile("sub/r.html")
	if err != nil {
		t.Fatal(r.err, err)
	}
	wantAll(t, string(b), "the figures are in ../a.jsonl: ")
	if link := linkFrom("sub/d.md", "stdin"); link != "" {
		t.Errorf("what is no file has the link %q", link)
	}
}
