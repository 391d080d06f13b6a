package miniaero_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"bakeoff/store/miniaero"
)

// childMode names the variable that makes this test binary a server or a measurement of its own.
const childMode = "MINIAERO_TEST_CHILD"

// TestChild is that other process; run by itself it does nothing.
func TestChild(t *testing.T) {
	switch os.Getenv(childMode) {
	case "serve":
		s := miniaero.RunT(t)
		tellCPU(t, s.Addr())
	case "floor":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go miniaero.ServeFloor(l, floorAnswer)
		tellCPU(t, l.Addr().String())
	case "million":
		millionChild(t)
	}
}

// tellCPU tells the address of a server, and then its CPU time for each line of the input, until that ends.
func tellCPU(t *testing.T, addr string) {
	fmt.Println(addr)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		fmt.Println(u.Utime.Nano() + u.Stime.Nano())
	}
}

// floorAnswer is what a server answers to a get of the record of the benchmark.
var floorAnswer = message(join(header(0, 0, 0, 2),
	[]byte{0, 0, 0, 16, 1, 1, 0, 4}, []byte("code"), []byte{0, 0, 0, 0, 0, 0, 4, 210},
	[]byte{0, 0, 0, 20, 1, 3, 0, 4}, []byte("name"), []byte("語音接通")))

// childServer is a server in a process of its own.
type childServer struct {
	t    testing.TB
	addr string
	in   *os.File
	out  *bufio.Scanner
}

func startChild(t testing.TB, mode string) *childServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run=^TestChild$", "-test.timeout=10m")
	c.Env = append(os.Environ(), childMode+"="+mode)
	c.Stdin, c.Stderr = r, os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() {
		w.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("the child: %v", err)
		}
	})
	child := &childServer{t: t, in: w, out: bufio.NewScanner(out)}
	child.addr = child.line()
	return child
}

func (c *childServer) line() string {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("the child said nothing: %v", c.out.Err())
	}
	return c.out.Text()
}

// cpu is the CPU time that the server has used so far.
func (c *childServer) cpu() time.Duration {
	c.t.Helper()
	if _, err := c.in.WriteString("cpu\n"); err != nil {
		c.t.Fatal(err)
	}
	n, err := strconv.ParseInt(c.line(), 10, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return time.Duration(n)
}

// BenchmarkGet is a get of two small bins through the real client, over the loopback, from a number of goroutines; the
// server is a process of its own, whose CPU time is reported. The floor is a server that answers without looking. A
// real server takes about 24 us a get at 50.
func BenchmarkGet(b *testing.B) {
	for _, mode := range []string{"serve", "floor"} {
		for _, n := range []int{1, 50} {
			b.Run(fmt.Sprintf("%s/%d", mode, n), func(b *testing.B) { benchmarkGet(b, mode, n) })
		}
	}
}

func benchmarkGet(b *testing.B, mode string, n int) {
	server := startChild(b, mode)
	client := connect(b, server.addr, n+1)
	if _, err := client.WarmUp(0); err != nil {
		b.Fatal(err)
	}
	k := key(b, "bench", "k")
	if mode == "serve" {
		if err := client.Put(nil, k, as.BinMap{"code": 1234, "name": "語音接通"}); err != nil {
			b.Fatal(err)
		}
	}
	p := as.NewPolicy()
	p.TotalTimeout, p.MaxRetries = 5*time.Second, 0
	before := server.cpu()
	b.ResetTimer()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				rec, err := client.Get(p, k)
				if err != nil || rec.Bins["code"] != 1234 {
					b.Errorf("get: %v, %v", rec, err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	used := server.cpu() - before
	b.ReportMetric(float64(used.Nanoseconds())/1e3/float64(b.N), "server-us/get")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "gets/s")
}

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

// millionChild fills a server and tells the resident memory in KiB.
func millionChild(t *testing.T) {
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
	child := startChild(t, "million")
	peak, resident, counted := child.addr, child.line(), child.line()
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
