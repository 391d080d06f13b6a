package meter

import (
	"slices"
	"time"

	"github.com/prometheus/procfs"
)

// HostReading is what the machine, and the control groups around this process, have counted so far. Its children
// are in the same groups unless somebody moved them.
type HostReading struct {
	At time.Time
	// cpus has, for each CPU by number, the time that passed and the part of it that the hypervisor gave to
	// others; nil when unknown.
	cpus map[int]cpuTime
	// Throttled is nil where no control group has a CPU quota or where it can't be read.
	Throttled *Throttled
	// dropped are the packets for which the kernel's table of connections had no room; nil where it tracks none, or it can't be read.
	dropped *uint64
}

type cpuTime struct{ total, stolen float64 }

// Throttled counts how often a CPU quota ran out, summed over the control groups around this process.
type Throttled struct {
	Periods uint64 `json:"periods"`
	// Time is how long runnable threads had to wait, summed over CPUs: it can exceed the wall time.
	Time time.Duration `json:"time_ns"`
}

// HostUsage is the difference of two host readings.
type HostUsage struct {
	Elapsed   time.Duration
	Throttled *Throttled
	// Dropped are the packets that the kernel dropped because its table of connections was full; nil where it tracks none, or that is unknown.
	Dropped *uint64
	cpus    map[int]cpuTime
}

// Host reads the counters of the machine. What can't be read is unknown; there is no error, because everything
// in it is only a reason for doubt.
func Host() HostReading {
	r := HostReading{At: time.Now()}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if stat, err := fs.Stat(); err == nil {
			r.cpus = cpuTimes(stat.CPU)
		}
		if tracked, err := fs.ConntrackStat(); err == nil {
			r.dropped = droppedOf(tracked)
		}
	}
	r.Throttled = ownGroups().throttled()
	return r
}

func cpuTimes(stats map[int64]procfs.CPUStat) map[int]cpuTime {
	times := make(map[int]cpuTime, len(stats))
	for n, s := range stats {
		// Guest time is in User and Nice already.
		total := s.User + s.Nice + s.System + s.Idle + s.Iowait + s.IRQ + s.SoftIRQ + s.Steal
		times[int(n)] = cpuTime{total: total, stolen: s.Steal}
	}
	return times
}

// droppedOf adds up what each CPU has counted.
func droppedOf(tracked []procfs.ConntrackStatEntry) *uint64 {
	sum := uint64(0)
	for _, cpu := range tracked {
		sum += cpu.Drop
	}
	return &sum
}

// SubHost is what happened from the reading before to the reading after.
func SubHost(after, before HostReading) HostUsage {
	u := HostUsage{Elapsed: after.At.Sub(before.At), cpus: make(map[int]cpuTime)}
	for n, a := range after.cpus {
		if b, ok := before.cpus[n]; ok && a.total >= b.total && a.stolen >= b.stolen {
			u.cpus[n] = cpuTime{total: a.total - b.total, stolen: a.stolen - b.stolen}
		}
	}
	u.Throttled = SubThrottled(after.Throttled, before.Throttled)
	if a, b := after.dropped, before.dropped; a != nil && b != nil && *a >= *b {
		u.Dropped = new(*a - *b)
	}
	return u
}

// SubThrottled is what two counts differ by; nil where one is unknown, or where they are not of one time of counting.
func SubThrottled(after, before *Throttled) *Throttled {
	if after == nil || before == nil || after.Periods < before.Periods || after.Time < before.Time {
		return nil
	}
	return &Throttled{Periods: after.Periods - before.Periods, Time: after.Time - before.Time}
}

// Stolen is the share of the time of these CPUs (no list: of all) that the hypervisor gave to others, 0 to 1. It
// moves in ticks of 10 ms, so it says nothing over windows far below a second. Nil when unknown.
func (u HostUsage) Stolen(cpus []int) *float64 {
	var sum cpuTime
	for n, t := range u.cpus {
		if len(cpus) == 0 || slices.Contains(cpus, n) {
			sum.total += t.total
			sum.stolen += t.stolen
		}
	}
	if sum.total <= 0 {
		return nil
	}
	return new(sum.stolen / sum.total)
}

// Quota is how many CPUs the control groups around this process let it use; nil when there is no limit or when it
// can't be read.
func Quota() *float64 { return QuotaIn("/") }

// QuotaIn is Quota of the process that /proc/self is in the file system at root.
func QuotaIn(root string) *float64 { return groupsIn(root).quota() }

// ThrottledIn is how often that process's quotas have run out so far; nil where it has none or that can't be read.
func ThrottledIn(root string) *Throttled { return groupsIn(root).throttled() }

// ThrottleOfThis finds the control groups around this process, which it does not leave as a rule, and gives what reads their counts.
func ThrottleOfThis() func() *Throttled { return ownGroups().throttled }

// CgroupVersion is 1 or 2, whichever has the CPUs of that process; 0 when neither is to be seen.
func CgroupVersion(root string) int {
	self, err := selfIn(root)
	if err != nil {
		return 0
	}
	groups, err := self.Cgroups()
	if err != nil {
		return 0
	}
	version := 0
	for _, g := range groups {
		if slices.Contains(g.Controllers, "cpu") {
			return 1
		}
		if g.HierarchyID == 0 && len(g.Controllers) == 0 {
			version = 2
		}
	}
	return version
}
