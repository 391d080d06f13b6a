package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/result"
)

var update = flag.Bool("update", false, "write the result files and golden files in testdata anew")

func TestGolden(t *testing.T) {
	if *update {
		write(t)
	}
	for _, s := range synthetic {
		file, err := result.ReadFile(filepath.Join("testdata", s.name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		tables, err := Build(file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range All {
			t.Run(s.name+"/"+f.Name, func(t *testing.T) {
				var got bytes.Buffer
				if err := f.Write(&got, tables); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join("testdata", s.name+"."+f.Name)
				if *update {
					if err := os.WriteFile(path, got.Bytes(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(want), got.String()); d != "" {
					t.Errorf("%s (-want +got; write it anew with -update):\n%s", path, d)
				}
			})
		}
	}
}
