package meter

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The trees below testdata are what two hosts and a container show of themselves.
func TestGroupUse(t *testing.T) {
	throttled := &Throttled{Periods: 12, Time: 345678 * time.Microsecond}
	whole := Reading{CPU: 81234567 * time.Microsecond, User: new(61 * time.Second), System: new(20234567 * time.Microsecond), RSS: new(uint64(104857600 + 20971520))}
	first := whole // version 1 counts nanoseconds, and the split in ticks
	first.CPU, first.System = 81234567890, new(20230*time.Millisecond)
	throttled1 := &Throttled{Periods: 12, Time: 345678901}
	for _, row := range []struct {
		root, path string
		want       Reading
		throttled  *Throttled
	}{
		{"v2", "/system.slice/asd.service", whole, throttled},
		{"v2", "system.slice/asd.service/", whole, throttled},
		{"v2", "/sys/fs/cgroup/system.slice/asd.service", whole, throttled},
		{"v1", "/docker/abc", first, throttled1},
		{"v1", "/sys/fs/cgroup/cpu,cpuacct/docker/abc", first, throttled1},
		{"v1", "/sys/fs/cgroup/memory/docker/abc", first, throttled1},
		{"container", "/docker/4f5e", Reading{CPU: 1500 * time.Microsecond}, nil},
		{"container", "/", Reading{CPU: 1500 * time.Microsecond}, nil},
	} {
		g, err := FindGroupIn(filepath.Join("testdata", row.root), row.path)
		if err != nil {
			t.Errorf("%s %s: %v", row.root, row.path, err)
			continue
		}
		got, err := g.Read()
		if err != nil || got.At.IsZero() || got.Born == nil {
			t.Errorf("%s %s: %+v, %v", row.root, row.path, got, err)
		}
		if d := cmp.Diff(row.want, got, cmpopts.IgnoreFields(Reading{}, "At", "Born")); d != "" {
			t.Errorf("%s %s: %s", row.root, row.path, d)
		}
		if d := cmp.Diff(row.throttled, g.Throttled()); d != "" {
			t.Errorf("%s %s: throttled: %s", row.root, row.path, d)
		}
	}
}

func TestGroupThatIsNotThere(t *testing.T) {
	for _, row := range []struct{ root, path string }{
		{"v2", "/nowhere"}, {"v2", "/empty.slice"}, {"v2", "/../../../proc"}, {"v1", "/system.slice"}, {"v1", ""},
	} {
		g, err := FindGroupIn(filepath.Join("testdata", row.root), row.path)
		if err == nil || !strings.Contains(err.Error(), "/proc/PID/cgroup") {
			t.Errorf("%s %q: %+v, %v; want an error that says what to name", row.root, row.path, g, err)
		}
	}
	if _, err := FindGroupIn(t.TempDir(), "/"); err == nil {
		t.Error("a machine without /proc has a group")
	}
}

// A group that is taken away is gone; one of the same name that came after it is another.
func TestGroupGone(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "g"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "g/cpu.stat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("usage_usec 5\n")
	g := Group{name: "g", cpu: filepath.Join(dir, "g"), mem: filepath.Join(dir, "g")}
	before, err := g.Read()
	if err != nil || before.RSS != nil {
		t.Fatalf("%+v, %v; want that memory is unknown", before, err)
	}
	write("usage_usec many\n")
	if r, err := g.Read(); err == nil {
		t.Errorf("%+v, want an error", r)
	}
	if err := os.Rename(g.cpu, filepath.Join(dir, "old")); err != nil { // the old one stays, so that its number is not given out again
		t.Fatal(err)
	}
	if _, err := g.Read(); !errors.Is(err, ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
	write("usage_usec 9\n")
	after, err := g.Read()
	if err != nil {
		t.Fatal(err)
	}
	if u, err := Sub(after, before); !errors.Is(err, ErrGone) {
		t.Errorf("%+v, %v; want ErrGone", u, err)
	}
}

func TestFind(t *testing.T) {
	c := startChild(t)
	const name = "meter-test-find" // 15 bytes, as many as the kernel keeps
	c.do("name " + name)
	for _, n := range []string{name, name + "-and-more"} {
		if pid, err := Find(n); err != nil || pid != c.cmd.Process.Pid {
			t.Errorf("Find(%q) is %d, %v; want %d", n, pid, err, c.cmd.Process.Pid)
		}
	}
	if got := Name(c.cmd.Process.Pid); got != name {
		t.Errorf("its name is %q, want %q", got, name)
	}
	if pid, err := Find("no such name"); err == nil || !strings.Contains(err.Error(), "ps -eo") {
		t.Errorf("%d, %v", pid, err)
	}
	other := startChild(t)
	other.do("name " + name)
	if pid, err := Find(name); err == nil || !strings.Contains(err.Error(), "2 processes") || !strings.Contains(err.Error(), strconv.Itoa(other.cmd.Process.Pid)) {
		t.Errorf("%d, %v; want an error with both ids", pid, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("usage_usec 81234567\nuser 6100\n"), []byte("81234567890\n"))
	f.Add([]byte("usage_usec 9223372036854775807\nanon 1\nfile_mapped 9223372036854775807\n"), []byte("-1"))
	f.Fuzz(func(t *testing.T, file, number []byte) {
		var r Reading
		if r.version2(string(file)) && r.CPU < 0 {
			t.Errorf("version 2: %v", r.CPU)
		}
		if r.version1(string(number), string(file)) && (r.CPU < 0 || (r.User == nil) != (r.System == nil)) {
			t.Errorf("version 1: %+v", r)
		}
		groupMemory(string(file))
	})
}
