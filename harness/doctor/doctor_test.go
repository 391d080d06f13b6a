package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// machine makes one of files by path. /proc/self is process 7.
func machine(t *testing.T, cpus int, files map[string]string) Machine {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, strings.Replace(name, "proc/self/", "proc/7/", 1))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "proc/7"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("7", filepath.Join(root, "proc/self")); err != nil {
		t.Fatal(err)
	}
	m := Machine{Root: root, GOMAXPROCS: cpus, Getenv: func(string) string { return "" }}
	for n := range cpus {
		m.CPUs = append(m.CPUs, n)
	}
	return m
}

const (
	cpuDir   = "sys/devices/system/cpu/"
	clockDir = "sys/devices/system/clocksource/clocksource0/"
	// What a container with version 2 and a namespace of its own sees.
	mountV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	mountV1 = "31 23 0:27 / /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
)

// threads are 4 cores of 2 threads, as Linux numbers them.
func threads() map[string]string {
	files := map[string]string{}
	for cpu := range 8 {
		files[fmt.Sprintf(cpuDir+"cpu%d/topology/thread_siblings_list", cpu)] = fmt.Sprintf("%d,%d\n", cpu%4, cpu%4+4)
	}
	return files
}

func TestChecks(t *testing.T) {
	for _, row := range []struct {
		check string
		cpus  int
		files map[string]string
		level Level
		found string // of the line
	}{
		{"cpus", 8, threads(), OK, "8 CPUs, threads of 4 cores (server 0,4, driver 1-2,5-6, store 3,7)"},
		{"cpus", 2, nil, Warn, "2 CPUs (server 0, driver 1, store 1); driver and store share CPU 1"},
		{"cpus", 4, map[string]string{"sys/devices/system/node/node0/cpulist": "0-1", "sys/devices/system/node/node1/cpulist": "2-3"}, Warn, "4 CPUs on 2 NUMA nodes"},
		{"cpus", 0, nil, Unknown, "can't be listed"},

		{"governor", 2, map[string]string{cpuDir + "cpu0/cpufreq/scaling_governor": "performance\n", cpuDir + "cpu1/cpufreq/scaling_governor": "performance\n"}, OK, "performance"},
		{"governor", 2, map[string]string{cpuDir + "cpu0/cpufreq/scaling_governor": "performance\n", cpuDir + "cpu1/cpufreq/scaling_governor": "powersave\n"}, Warn,
			"performance, powersave: the clock follows the load, so that CPU time per request depends on the rate: cpupower frequency-set -g performance"},
		{"governor", 2, nil, Unknown, "virtual machines"},

		{"turbo", 2, map[string]string{cpuDir + "intel_pstate/no_turbo": "1\n"}, OK, "off"},
		{"turbo", 2, map[string]string{cpuDir + "intel_pstate/no_turbo": "0\n"}, Warn, "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"},
		{"turbo", 2, map[string]string{cpuDir + "cpufreq/boost": "1\n"}, Warn, "echo 0 > /sys/devices/system/cpu/cpufreq/boost"},
		{"turbo", 2, map[string]string{cpuDir + "cpufreq/boost": "0\n"}, OK, "off"},
		{"turbo", 2, nil, Unknown, "not to be seen"},

		// user nice system idle iowait irq softirq steal: 20 of 1000
		{"steal", 1, map[string]string{"proc/stat": "cpu  300 0 100 580 0 0 0 20 0 0\ncpu0 300 0 100 580 0 0 0 20 0 0\n"}, Warn, "2 % of the CPU time since boot"},
		{"steal", 1, map[string]string{"proc/stat": "cpu  300 0 100 600 0 0 0 0 0 0\ncpu0 300 0 100 600 0 0 0 0 0 0\n"}, OK, "0 %"},
		{"steal", 1, nil, Unknown, "can't be read"},

		{"load", 4, map[string]string{"proc/loadavg": "0.90 0.4 0.3 1/200 77\n"}, OK, "0.90 on average"}, // 0.25 of 4 CPUs is 1
		{"load", 4, map[string]string{"proc/loadavg": "1.10 0.4 0.3 1/200 77\n"}, Warn, "something else is running"},
		{"load", 4, nil, Unknown, "can't be read"},

		{"cgroup", 4, nil, Unknown, "no control group"},
		{"cgroup", 4, map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountV2, "sys/fs/cgroup/cpu.max": "max 100000\n"}, OK, "version 2, no CPU quota"},
		{"cgroup", 4, map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountV2, "sys/fs/cgroup/cpu.max": "400000 100000\n"}, OK, "quota of 4 CPUs against GOMAXPROCS 4"},
		{"cgroup", 4, map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountV2, "sys/fs/cgroup/cpu.max": "150000 100000\n",
			"sys/fs/cgroup/cpu.stat": "nr_throttled 3\nthrottled_usec 1000\n"}, Warn, "quota of 1.5 CPUs against GOMAXPROCS 4, throttled in 3 periods so far"},
		{"cgroup", 4, map[string]string{"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": mountV2, "sys/fs/cgroup/cpu.max": "50000 100000\n"}, Bad, "quota of 0.5 CPUs"},
		{"cgroup", 4, map[string]string{"proc/self/cgroup": "3:cpu,cpuacct:/\n", "proc/self/mountinfo": mountV1,
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, Warn, "version 1, quota of 2 CPUs against GOMAXPROCS 4"},

		{"memory", 1, map[string]string{"proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 4194304 kB\n"}, OK, "4096 MiB are free"},
		{"memory", 1, map[string]string{"proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 524288 kB\n"}, Warn, "512 MiB are free"},
		{"memory", 1, map[string]string{"proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 102400 kB\n"}, Bad, "100 MiB are free"},
		{"memory", 1, nil, Unknown, "can't be read"},

		{"clock", 1, map[string]string{clockDir + "current_clocksource": "tsc\n"}, OK, "tsc"},
		{"clock", 1, map[string]string{clockDir + "current_clocksource": "kvm-clock\n"}, OK, "kvm-clock"},
		{"clock", 1, map[string]string{clockDir + "current_clocksource": "hpet\n", clockDir + "available_clocksource": "tsc hpet\n"}, Warn, "echo tsc >"},
		{"clock", 1, map[string]string{clockDir + "current_clocksource": "xen\n", clockDir + "available_clocksource": "xen\n"}, Warn, "no better one is on offer (xen)"},
		{"clock", 1, nil, Unknown, "not to be seen"},

		// 800 connections + 800 to the store + 64
		{"descriptors", 1, map[string]string{"proc/self/limits": limits("1024", "1048576")}, OK, "1024 a process, hard limit 1048576, 1664 needed"},
		{"descriptors", 1, map[string]string{"proc/self/limits": limits("1024", "2000")}, Warn, "ulimit -Hn 4096"},
		{"descriptors", 1, map[string]string{"proc/self/limits": limits("256", "1663")}, Bad, "--ulimit nofile=4096"},
		{"descriptors", 1, map[string]string{"proc/self/limits": limits("1024", "unlimited")}, OK, "unlimited"},
		{"descriptors", 1, nil, Unknown, "can't be read"},

		{"ports", 1, map[string]string{"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n"}, OK, "32768 to 60999"},
		{"ports", 1, map[string]string{"proc/sys/net/ipv4/ip_local_port_range": "60000\t60999\n"}, Warn, "1000, and every trial"},
		{"ports", 1, map[string]string{"proc/sys/net/ipv4/ip_local_port_range": "60100\t60998\n"}, Bad, "899 for 800 connections"},
		{"ports", 1, nil, Unknown, "can't be read"},

		{"tracking", 1, nil, Unknown, "can't be read"},
		{"tracking", 1, map[string]string{"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n"}, OK, "no connections are tracked"},
		{"tracking", 1, map[string]string{"proc/sys/net/netfilter/nf_conntrack_max": "1000\n", "proc/sys/net/netfilter/nf_conntrack_count": "500\n"}, OK, "500 of 1000"},
		{"tracking", 1, map[string]string{"proc/sys/net/netfilter/nf_conntrack_max": "1000\n", "proc/sys/net/netfilter/nf_conntrack_count": "501\n"}, Warn, "nf_conntrack_max=8000"},
		{"tracking", 1, map[string]string{"proc/sys/net/netfilter/nf_conntrack_max": "1000\n"}, Unknown, "can't be read"},

		{"container", 1, nil, OK, "none that is known"},
		{"container", 1, map[string]string{".dockerenv": ""}, OK, "docker"},
		{"container", 1, map[string]string{"proc/1/cgroup": "0::/kubepods/pod1\n"}, OK, "kubepods"},

		{"proxies", 1, nil, OK, "none is set"},
	} {
		f := look(t, row.check, machine(t, row.cpus, row.files))
		if f.Level != row.level || !strings.Contains(f.String(), row.found) {
			t.Errorf("%s of %v: %s: %s, want %s: %s", row.check, row.files, f.Level, f, row.level, row.found)
		}
		if bad := f.Level == Warn || f.Level == Bad; bad && f.Advice == "" {
			t.Errorf("%s: %s, and it does not say what to do", row.check, f)
		}
	}
}

func look(t *testing.T, name string, m Machine) Finding {
	t.Helper()
	for _, c := range All {
		if c.Name == name {
			return c.Look(m, DefaultPlan)
		}
	}
	t.Fatalf("no check %s", name)
	return Finding{}
}

func limits(soft, hard string) string {
	return "Limit                     Soft Limit           Hard Limit           Units     \n" +
		fmt.Sprintf("Max open files            %-20s %-20s files     \n", soft, hard) +
		"Max locked memory         8388608              8388608              bytes     \n"
}

func TestProxies(t *testing.T) {
	for _, row := range []struct {
		env   map[string]string
		level Level
	}{
		{map[string]string{"https_proxy": "http://user:secret@proxy:3128"}, Warn},
		{map[string]string{"HTTP_PROXY": "http://user:secret@proxy:3128", "NO_PROXY": "db"}, Warn},
		{map[string]string{"HTTP_PROXY": "http://user:secret@proxy:3128", "no_proxy": "localhost,127.0.0.1"}, OK},
		{map[string]string{"HTTP_PROXY": "http://user:secret@proxy:3128", "NO_PROXY": "*"}, OK},
	} {
		m := machine(t, 1, nil)
		m.Getenv = func(name string) string { return row.env[name] }
		if f := look(t, "proxies", m); f.Level != row.level || strings.Contains(f.String(), "secret") {
			t.Errorf("%v: %s: %s, want %s", row.env, f.Level, f, row.level)
		}
	}
}

// TestNothingToSee examines a machine that shows nothing: nothing is bad, and nothing is claimed.
func TestNothingToSee(t *testing.T) {
	for _, root := range []string{t.TempDir(), "/nowhere/at/all"} {
		for _, f := range Examine(Machine{Root: root, Getenv: func(string) string { return "" }}, DefaultPlan) {
			if f.Level != Unknown && f.Name != "container" && f.Name != "proxies" {
				t.Errorf("%s: %s: %s", f.Name, f.Level, f)
			}
		}
	}
}

func TestThisMachine(t *testing.T) {
	all := Examine(This(os.Getenv), DefaultPlan)
	if len(all) != len(All) {
		t.Fatalf("%d findings of %d checks", len(all), len(All))
	}
	for i, f := range all {
		if f.Name != All[i].Name || f.Found == "" || All[i].Doc == "" || f.Level == "" {
			t.Errorf("%+v", f)
		}
	}
}

func TestHealthy(t *testing.T) {
	if !Healthy([]Finding{{Level: OK}, {Level: Warn}, {Level: Unknown}}) || Healthy([]Finding{{Level: OK}, {Level: Bad}}) {
		t.Error("only what is bad makes a machine unfit")
	}
}
