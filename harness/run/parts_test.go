package run

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/harness/meter"
	"bakeoff/harness/result"
)

func TestLastWords(t *testing.T) {
	long := strings.Repeat("x", 700)
	for _, row := range []struct {
		name  string
		said  []string
		want  string
		loose bool // want is a part
	}{
		{"nothing", nil, "", false},
		{"blank lines", []string{"\n \n"}, "", false},
		{"one line in pieces", []string{"no ", "luck\n"}, "no luck", false},
		{"the last five", []string{"1\n2\n3\n4\n5\n6\n7\n"}, "3 | 4 | 5 | 6 | 7", false},
		{"a crash is quoted from where it says why", []string{"log\npanic: oh\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:3\nexit status 2\nmore\nmore\n"},
			"panic: oh | goroutine 1 [running]: | main.main() | /x/main.go:3 | exit status 2", false},
		{"a long line is cut", []string{long}, strings.Repeat("x", 600) + "...", false},
		{"not text", []string{"a\xffb"}, "a?b", false},
		{"out of memory, with the registers last", []string{"runtime: cannot allocate memory\nfatal error: out of memory\n\nruntime stack:\n", strings.Repeat("r12 0x0\n", 20)},
			"runtime: cannot allocate memory | fatal error: out of memory | runtime stack: | r12 0x0 | r12 0x0", false},
		{"a crash with more stacks than are kept", []string{"log\nfatal error: out of memory\n", strings.Repeat("goroutine 7:\n", 50_000), "rflags 0x1\n"},
			"fatal error: out of memory | goroutine 7: | goroutine 7: | goroutine 7: | goroutine 7:", false},
		{"much", []string{strings.Repeat("0123456789\n", 100_000), "the end\n"}, "0123456789 | the end", true},
	} {
		var w lastWords
		for _, s := range row.said {
			if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got := w.String(); got != row.want && !(row.loose && strings.HasSuffix(got, row.want)) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if len(w.tail) > 2*keptWords {
			t.Errorf("%s: %d bytes are kept", row.name, len(w.tail))
		}
	}
}

func TestSetUsage(t *testing.T) {
	all := names{"cpu", "cpu_per_req", "rss", "switches"}
	whole := &meter.Usage{Elapsed: 2 * time.Second, CPU: time.Second, RSSPeak: new(uint64(4096)), Voluntary: new(uint64(300)), Involuntary: new(uint64(100))}
	for _, row := range []struct {
		name  string
		ended uint64
		u     *meter.Usage
		n     names
		want  map[string]float64
	}{
		{"all", 200, whole, all, map[string]float64{"cpu": 1, "cpu_per_req": 1.0 / 200, "rss": 4096, "switches": (300.0 + 100) / 200}},
		{"no call ended", 0, whole, all, map[string]float64{"cpu": 1, "rss": 4096}},
		{"unknown is absent", 200, &meter.Usage{CPU: time.Second, Voluntary: new(uint64(3))}, all, map[string]float64{"cpu": 1, "cpu_per_req": 1.0 / 200}},
		{"all is unknown", 200, nil, all, map[string]float64{}},
		{"idle is zero, not absent", 200, &meter.Usage{Elapsed: time.Second}, all, map[string]float64{"cpu": 0, "cpu_per_req": 0}},
		{"no name, no value", 200, whole, names{"cpu", "cpu_per_req", "rss", ""}, map[string]float64{"cpu": 1, "cpu_per_req": 1.0 / 200, "rss": 4096}},
	} {
		got := map[string]float64{}
		setUsage(got, row.ended, row.u, row.n)
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
}

func TestWarnings(t *testing.T) {
	use := func(cores float64) *meter.Usage {
		return &meter.Usage{Elapsed: 2 * time.Second, CPU: time.Duration(cores * 2e9)}
	}
	for _, row := range []struct {
		name string
		got  []result.Warning
		want string // kind and text; "" for no warning
	}{
		{"driver at 90 % of one", limitWarnings(use(0.9), use(0.5), 1, 1),
			"driver_limited: the driver used 90 % of its 1 CPU (the server 50 % of its 1 CPU): over 85 % the driver may be the limit"},
		{"driver at 84 %", limitWarnings(use(0.84), use(0.5), 1, 1), ""},
		{"driver at 1.68 of 2 is 84 %", limitWarnings(use(1.68), use(0.5), 2, 1), ""},
		{"driver at 1.8 of 2 is 90 %", limitWarnings(use(1.8), use(3), 2, 3),
			"driver_limited: the driver used 90 % of its 2 CPUs (the server 100 % of its 3 CPUs): over 85 % the driver may be the limit"},
		{"server unknown", limitWarnings(use(0.9), nil, 1, 0),
			"driver_limited: the driver used 90 % of its 1 CPU (what the server used is unknown): over 85 % the driver may be the limit"},
		{"server's CPUs unknown", limitWarnings(use(0.9), use(0.9), 1, 0),
			"driver_limited: the driver used 90 % of its 1 CPU (what the server used is unknown): over 85 % the driver may be the limit"},
		{"no window", limitWarnings(&meter.Usage{}, &meter.Usage{}, 1, 1), ""},
		{"throttled", hostWarnings(&meter.Throttled{Periods: 3, Time: 40 * time.Millisecond}, nil),
			"throttled: a CPU quota ran out in 3 periods and held threads up for 40ms in sum"},
		{"not throttled", hostWarnings(&meter.Throttled{}, new(0.0)), ""},
		{"no packet dropped", droppedWarning(new(uint64(0))), ""},
		{"packets not counted", droppedWarning(nil), ""},
		{"packets dropped", droppedWarning(new(uint64(12))),
			"packets_dropped: the kernel dropped 12 packets, its table of connections being full: calls that dial waited for seconds ('bakeoff doctor' says what to do)"},
		{"1 % stolen", hostWarnings(nil, new(0.01)), ""},
		{"2.3 % stolen", hostWarnings(nil, new(0.023)), "stolen: the hypervisor gave 2.3 % of the CPUs' time to others"},
		{"unknown", hostWarnings(nil, nil), ""},
	} {
		var got []string
		for _, w := range row.got {
			got = append(got, w.Kind+": "+w.Text)
		}
		if s := strings.Join(got, "\n"); s != row.want {
			t.Errorf("%s: %q, want %q", row.name, s, row.want)
		}
	}
}

func TestCheckDescriptors(t *testing.T) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) })
	low := limit
	low.Cur = 256
	if limit.Max <= 300 {
		t.Skipf("the hard limit is %d", limit.Max)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	soft := func() uint64 {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
			t.Fatal(err)
		}
		return now.Cur
	}
	if err := CheckDescriptors(256); err != nil || soft() != 256 {
		t.Errorf("256 of 256: %v, the limit is now %d", err, soft())
	}
	if err := CheckDescriptors(300); err != nil || soft() != limit.Max {
		t.Errorf("300 of 256 with %d to be had: %v, the limit is now %d", limit.Max, err, soft())
	}
	need := int(limit.Max) + 1
	if err := CheckDescriptors(need); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("needs %d file descriptors", need)) ||
		!strings.Contains(err.Error(), fmt.Sprintf("ulimit -Hn %d", need)) {
		t.Errorf("%d of %d: %v", need, limit.Max, err)
	}
	if got, want := Descriptors(50, 800), 50+800+64; got != want {
		t.Errorf("50 connections, 800 in flight: %d, want %d", got, want)
	}
}

func TestCheckPorts(t *testing.T) {
	for _, row := range []struct {
		conns int
		text  string
		want  string
	}{
		{1000, "32768\t60999\n", ""},
		{28132, "32768\t60999\n", ""}, // 60999-32768+1-100
		{28133, "32768\t60999\n", "the plan opens 28133 connections and the range of local ports (32768-60999) has room for 28132"},
		{1, "40000 40050", "has room for 0"},
		{1000, "", ""}, // unknown refuses nothing
		{1000, "x y", ""},
		{1000, "5 4", ""},
	} {
		err := checkPorts(row.conns, row.text)
		if (row.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%d of %q: %v, want %q", row.conns, row.text, err, row.want)
		}
	}
	if err := CheckPorts(1); err != nil {
		t.Errorf("one connection on this machine: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	e := Environment(t.Context())
	if e.CPUs < 1 || e.GOMAXPROCS < 1 || !strings.HasPrefix(e.Go, "go") || !strings.HasPrefix(e.Kernel, "Linux ") || e.MemBytes < 1<<24 ||
		e.OS != "linux" || e.Arch == "" {
		t.Errorf("%+v", e)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{}
	secrets["the host's name"], _ = os.Hostname()
	secrets["the home"], _ = os.UserHomeDir()
	secrets["the working directory"], _ = os.Getwd()
	if u, err := user.Current(); err == nil {
		secrets["the user"] = u.Username
	}
	for what, s := range secrets {
		if len(s) > 3 && strings.Contains(string(text), s) {
			t.Errorf("%s (%q) is in it: %s", what, s, text)
		}
	}
}

func TestGoEnv(t *testing.T) {
	set := map[string]string{"GOGC": "400", "GODEBUG": "", "HOME": "/home/x"}
	got := goEnv(func(name string) (string, bool) { v, ok := set[name]; return v, ok })
	if d := cmp.Diff(map[string]string{"GOGC": "400", "GODEBUG": ""}, got); d != "" {
		t.Error(d)
	}
}

func TestBuildInfo(t *testing.T) {
	info := &debug.BuildInfo{
		Settings: []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}},
		Deps: []*debug.Module{{Path: "a", Version: "v1"}, {Path: "b", Version: "v2", Replace: &debug.Module{Path: "/home/x/b"}},
			{Path: "c", Version: "v3", Replace: &debug.Module{Path: "d", Version: "v4"}}},
	}
	if got := builtFrom(info); got != "abc+dirty" {
		t.Errorf("revision %q", got)
	}
	info.Settings[2].Value = "false"
	if got := builtFrom(info); got != "abc" {
		t.Errorf("revision %q", got)
	}
	if got := builtFrom(&debug.BuildInfo{}); got != "" {
		t.Errorf("revision %q of nothing", got)
	}
	if d := cmp.Diff(map[string]string{"a": "v1", "b": "v2 replaced", "c": "v3 replaced by d v4"}, modules(info)); d != "" {
		t.Error(d)
	}
}

func TestCheckout(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} { // as a hook sets them
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := checkout(t.Context(), "bakeoff"); got != "" {
		t.Errorf("outside of a checkout: %q", got)
	}
	git("init", "-q")
	write("go.mod", "// a comment\nmodule bakeoff\n\ngo 1.26\n")
	if got := checkout(t.Context(), "bakeoff"); got != "" {
		t.Errorf("without a commit: %q", got)
	}
	git("add", ".")
	git("commit", "-qm", "x")
	head := git("rev-parse", "HEAD")
	if got := checkout(t.Context(), "bakeoff"); got != head {
		t.Errorf("clean: %q, want %q", got, head)
	}
	if got := checkout(t.Context(), "another"); got != "" {
		t.Errorf("another module's checkout: %q", got)
	}
	// this test has no stamp: what the folder holds stands under a name of its own
	if e := Environment(t.Context()); e.Git != "" || e.GitWorkingDirectory != "" && e.GitWorkingDirectory != head {
		t.Errorf("revision %q, of the working directory %q", e.Git, e.GitWorkingDirectory)
	}
	write("new.txt", "")
	if got := checkout(t.Context(), "bakeoff"); got != head+"+dirty" {
		t.Errorf("changed: %q, want %q", got, head+"+dirty")
	}
}
