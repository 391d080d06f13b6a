package miniaero_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"bakeoff/store/miniaero"
)

// TestGetDoesNotAllocate: however many records there are, a get makes no garbage in the server.
func TestGetDoesNotAllocate(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	for _, records := range []int{10, 100_000} {
		s := miniaero.RunT(t)
		fill(t, s, "many", records)
		c := rawDial(t, s.Addr())
		defer c.Close()
		d, err := miniaero.Key{Set: "many", ID: 5}.Digest()
		if err != nil {
			t.Fatal(err)
		}
		ask := message(join(header(3, 0, 3, 0), field(0, []byte("test")), field(1, []byte("many")), field(4, d[:])))
		answer := make([]byte, 200)
		n := testing.AllocsPerRun(2000, func() {
			if _, err := c.Write(ask); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(answer); err != nil || answer[8+5] != 0 {
				t.Fatalf("code %d, %v", answer[8+5], err)
			}
		})
		if n > 0.5 {
			t.Errorf("%.1f allocations a get with %d records", n, records)
		}
	}
}

// millionChild names the variable that makes this test binary the process whose memory is measured.
const millionChild = "MINIAERO_TEST_MILLION"

// TestMillionChild is that process: it fills a server and tells the resident memory in KiB. By itself it does nothing.
func TestMillionChild(t *testing.T) {
	if os.Getenv(millionChild) == "" {
		t.Skip("a part of TestMillionRecords")
	}
	s := miniaero.RunT(t)
	for i := range 1_000_000 {
		k := miniaero.Key{Namespace: "test", Set: "million", ID: i}
		if err := s.Put(k, map[string]any{"code": i, "name": "data type"}, 0); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" || fields[0] == "VmRSS:" {
			fmt.Println(fields[0], fields[1])
		}
	}
	fmt.Println("Memory:", s.Memory("test")>>10)
}

// TestMillionRecords: a million records of two small bins take under 400 MB, at their peak, while they were written.
func TestMillionRecords(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("takes seconds, and means nothing under the race detector")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^TestMillionChild$", "-test.timeout=10m")
	child.Env, child.Stderr = append(os.Environ(), millionChild+"=1"), os.Stderr
	out, err := child.Output()
	if err != nil {
		t.Fatalf("the child: %v: %s", err, out)
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < 3 {
		t.Fatalf("the child said %q, want three lines", out)
	}
	peak, resident, counted := lines[0], lines[1], lines[2]
	t.Logf("%s kB, %s kB, %s kB", peak, resident, counted)
	kib := func(line string) int {
		n, err := strconv.Atoi(strings.Fields(line)[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if kib(peak) > 400<<10 {
		t.Errorf("%s kB, want under 400 MiB", peak)
	}
	if c, r := kib(counted), kib(resident); c < r*6/10 || c > r*14/10 {
		t.Errorf("the server counts %d KiB, the process has %d: MaxMemory would not bound it", c, r)
	}
}
