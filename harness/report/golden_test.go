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
	for _, name := range checkedIn() {
		file, err := result.ReadFile(filepath.Join("testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		tables, err := Build(file, Options{Load: 50_000, CorePrice: 0.04})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range All {
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				var got bytes.Buffer
				if err := f.Write(&got, tables); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+f.Name, got.Bytes())
			})
		}
	}
}

// checkedIn are the names of the result files in testdata: those that are synthetic, and one of schema 1 that -update leaves as it is.
func checkedIn() []string {
	names := []string{"older"}
	for _, s := range synthetic {
		names = append(names, s.name)
	}
	return names
}

// golden holds output to a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got; write it anew with -update):\n%s", path, d)
	}
}

func mustGolden(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
