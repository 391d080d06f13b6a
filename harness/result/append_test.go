package result

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAppend(t *testing.T) {
	long := strings.Replace(trialLine, "{", `{"new":"`+strings.Repeat("x", 200_000)+`",`, 1) // longer than what is read at a time
	for _, row := range []struct {
		name, in string
		trials   int // that were there
	}{
		{"whole", headLine + trialLine, 1},
		{"header only", headLine, 0},
		{"header without an end", strings.TrimSpace(headLine), 0},
		{"cut short", headLine + trialLine + trialLine[:30], 1},
		{"cut to one byte", headLine + trialLine + "{", 1},
		{"cut short in a long line", headLine + trialLine + long[:150_000], 1},
		{"a long line without an end", headLine + strings.TrimSpace(long), 1},
		{"no end", headLine + strings.TrimSpace(trialLine), 1},
		{"blanks at the end", headLine + trialLine + "  ", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.jsonl")
			if err := os.WriteFile(path, []byte(row.in), 0o666); err != nil {
				t.Fatal(err)
			}
			w, file, err := Append(path)
			if err != nil || len(file.Trials) != row.trials {
				t.Fatalf("%d trials, %v", len(file.Trials), err)
			}
			if err := errors.Join(w.Append(Trial{Subject: "a", Round: 9, Window: 1}), w.Close()); err != nil {
				t.Fatal(err)
			}
			file, err = ReadFile(path)
			if err != nil || len(file.Trials) != row.trials+1 || file.Trials[row.trials].Round != 9 || len(file.Warnings) != 0 {
				t.Errorf("%d trials, %v, %v", len(file.Trials), file.Warnings, err)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.jsonl")
	content := headLine + trialLine[:30] + "\n" + trialLine
	if err := os.WriteFile(bad, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Append(bad); err == nil || !strings.Contains(err.Error(), "bad.jsonl:2:") {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(bad); err != nil || string(b) != content {
		t.Errorf("the file was changed: %q, %v", b, err)
	}
	if _, _, err := Append(filepath.Join(dir, "none.jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	path := filepath.Join(dir, "new.jsonl")
	w, err := Create(path, Header{Planned: 1}, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Append(path); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), path) {
		t.Errorf("while a run writes it: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, _, err := Append(path)
	if err != nil {
		t.Fatalf("after it has ended: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
