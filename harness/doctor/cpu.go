package doctor

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"bakeoff/harness/meter"
	"bakeoff/harness/run"
	"bakeoff/internal/plural"
)

// This is the machine that we are on.
func This(getenv func(string) string) Machine {
	m := Machine{Root: "/", Getenv: getenv, GOMAXPROCS: runtime.GOMAXPROCS(0)}
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		for n := 0; len(m.CPUs) < set.Count(); n++ {
			if set.IsSet(n) {
				m.CPUs = append(m.CPUs, n)
			}
		}
	}
	return m
}

func cpus(m Machine, p Plan) Finding {
	if len(m.CPUs) == 0 {
		return Finding{Level: Unknown, Found: "the CPUs that may be used can't be listed"}
	}
	l := run.ReadLayout(m.Root, m.CPUs)
	cores, nodes := map[int]bool{}, map[int]bool{}
	for _, c := range l {
		cores[c.Core], nodes[c.Node] = true, true
	}
	found := plural.Of(len(l), "CPU")
	if len(cores) < len(l) {
		found += fmt.Sprintf(", threads of %s", plural.Of(len(cores), "core"))
	}
	if len(nodes) > 1 {
		found += fmt.Sprintf(" on %d NUMA nodes", len(nodes))
	}
	sets, _ := run.Assign(l, p.Roles)
	var parts []string
	for _, role := range p.Roles {
		parts = append(parts, role+" "+run.FormatCPUs(sets[role]))
	}
	f := Finding{Level: OK, Found: found + " (" + strings.Join(parts, ", ") + ")"}
	var doubts []string
	for _, w := range l.Doubts(sets, p.Roles) {
		doubts = append(doubts, w.Text)
	}
	if len(doubts) > 0 {
		f.Level, f.Found = Warn, f.Found+"; "+strings.Join(doubts, "; ")
		f.Advice = fmt.Sprintf("use a machine with at least %d free cores, or --store memory, which needs one process less; compare CPU per request rather than throughput", len(p.Roles))
	}
	return f
}

func governor(m Machine, _ Plan) Finding {
	var governors []string
	for _, cpu := range m.CPUs {
		if g := m.read(fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu)); g != "" && !slices.Contains(governors, g) {
			governors = append(governors, g)
		}
	}
	switch {
	case len(governors) == 0:
		return Finding{Level: Unknown, Found: "no governor is to be seen, as in most virtual machines: the host sets the clock"}
	case slices.Equal(governors, []string{"performance"}):
		return Finding{Level: OK, Found: "performance"}
	}
	return Finding{Level: Warn, Found: strings.Join(governors, ", ") + ": the clock follows the load, so that CPU time per request depends on the rate",
		Advice: "cpupower frequency-set -g performance"}
}

func turbo(m Machine, _ Plan) Finding {
	const advice = "for figures that repeat, "
	switch m.read("sys/devices/system/cpu/intel_pstate/no_turbo") {
	case "1":
		return Finding{Level: OK, Found: "off"}
	case "0":
		return Finding{Level: Warn, Found: "on: the clock depends on heat and on how many cores are busy", Advice: advice + "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"}
	}
	switch m.read("sys/devices/system/cpu/cpufreq/boost") {
	case "0":
		return Finding{Level: OK, Found: "off"}
	case "1":
		return Finding{Level: Warn, Found: "on: the clock depends on heat and on how many cores are busy", Advice: advice + "echo 0 > /sys/devices/system/cpu/cpufreq/boost"}
	}
	return Finding{Level: Unknown, Found: "not to be seen, as in most virtual machines"}
}

// stolenLimit is the share of all time since boot above which steal is worth a word.
const stolenLimit = 0.01

func steal(m Machine, _ Plan) Finding {
	unknown := Finding{Level: Unknown, Found: "/proc/stat can't be read"}
	fs, err := procfs.NewFS(filepath.Join(m.Root, "proc"))
	if err != nil {
		return unknown
	}
	stat, err := fs.Stat()
	if err != nil {
		return unknown
	}
	s := stat.CPUTotal
	total := s.User + s.Nice + s.System + s.Idle + s.Iowait + s.IRQ + s.SoftIRQ + s.Steal
	if total <= 0 {
		return unknown
	}
	f := Finding{Level: OK, Found: fmt.Sprintf("%.2g %% of the CPU time since boot", 100*s.Steal/total)}
	if s.Steal/total > stolenLimit {
		f.Level, f.Advice = Warn, "other guests take time away; use a machine of your own, or more rounds; rounds that are hit are flagged"
	}
	return f
}

// busyLimit is the load, as a share of the CPUs, above which something else is running.
const busyLimit = 0.25

func load(m Machine, _ Plan) Finding {
	first, _, _ := strings.Cut(m.read("proc/loadavg"), " ")
	average, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return Finding{Level: Unknown, Found: "/proc/loadavg can't be read"}
	}
	f := Finding{Level: OK, Found: fmt.Sprintf("%.2f on average over the last minute", average)}
	if average > busyLimit*float64(max(len(m.CPUs), 1)) {
		f.Level, f.Advice = Warn, "something else is running, or has just been: wait, or stop it (top shows it)"
	}
	return f
}

func cgroup(m Machine, _ Plan) Finding {
	f := Finding{Level: OK}
	switch v := meter.CgroupVersion(m.Root); v {
	case 0:
		return Finding{Level: Unknown, Found: "no control group is to be seen, so no quota either"}
	default:
		f.Found = fmt.Sprintf("version %d", v)
	}
	quota := meter.QuotaIn(m.Root)
	if quota == nil {
		f.Found += ", no CPU quota"
		return f
	}
	f.Found += fmt.Sprintf(", quota of %.3g CPUs against GOMAXPROCS %d", *quota, m.GOMAXPROCS)
	if t := meter.ThrottledIn(m.Root); t != nil && t.Periods > 0 {
		f.Found += fmt.Sprintf(", throttled in %d periods so far", t.Periods)
	}
	switch {
	case *quota < 1:
		f.Level, f.Advice = Bad, "every process will be stopped for a part of each 100 ms, which is all that latencies will show: raise the quota to 2 CPUs or more (docker --cpus, a pod's limits.cpu)"
	case *quota < float64(m.GOMAXPROCS) || *quota != math.Trunc(*quota):
		f.Level, f.Advice = Warn, "processes may be throttled: give whole CPUs by a set (docker --cpuset-cpus) and not by a quota, or GOMAXPROCS no higher than it; throttled rounds are flagged"
	}
	return f
}

// slowClocks are read by a system call, or by a device.
var slowClocks = []string{"hpet", "acpi_pm", "jiffies", "pit", "xen", "hyperv_clocksource_msr", "refined-jiffies"}

func clock(m Machine, _ Plan) Finding {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	source := m.read(dir + "current_clocksource")
	switch {
	case source == "":
		return Finding{Level: Unknown, Found: "the clock source is not to be seen"}
	case !slices.Contains(slowClocks, source):
		return Finding{Level: OK, Found: source}
	}
	f := Finding{Level: Warn, Found: source + ": each reading of the time costs up to a microsecond, and there are two a call"}
	if available := strings.Fields(m.read(dir + "available_clocksource")); slices.Contains(available, "tsc") {
		f.Advice = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
	} else {
		f.Advice = "no better one is on offer (" + strings.Join(available, ", ") + "): compare CPU per request with care, and use another machine for small differences"
	}
	return f
}

// memoryNeed is what the three processes of a large run take together, and memoryEase what leaves room for the page cache.
const (
	memoryNeed = 256 << 20
	memoryEase = 1 << 30
)

func memory(m Machine, _ Plan) Finding {
	info, err := meminfo(m.Root)
	if err != nil || info.MemAvailableBytes == nil {
		return Finding{Level: Unknown, Found: "/proc/meminfo can't be read"}
	}
	free := *info.MemAvailableBytes
	f := Finding{Level: OK, Found: fmt.Sprintf("%d MiB are free", free>>20)}
	switch {
	case free < memoryNeed:
		f.Level, f.Advice = Bad, fmt.Sprintf("processes may be killed in mid-run: free at least %d MiB", memoryNeed>>20)
	case free < memoryEase:
		f.Level, f.Advice = Warn, "pages may be swapped or reclaimed in mid-run: free 1 GiB"
	}
	return f
}

func meminfo(root string) (procfs.Meminfo, error) {
	fs, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return procfs.Meminfo{}, err
	}
	return fs.Meminfo()
}
