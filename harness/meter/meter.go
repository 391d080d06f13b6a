// Package meter reads what a process has used so far. A figure of a window is the difference of two readings at
// its edges; nothing is sampled and averaged, so that a short burst of work cannot fall between two samples and
// idle time cannot vanish. It knows nothing of trials or roles. It needs Linux: the process clocks and /proc.
//
// What could not be read is nil, never zero.
package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// ErrGone is in the chain of Read's error when the process has ended, or never was.
var ErrGone = errors.New("the process is gone")

// Reading is what a process has used from its start to the moment At, over all its threads, those that have ended
// included unless a field says otherwise.
type Reading struct {
	PID int `json:"pid"`
	// At stays behind when a reading is sent: another machine's clock says nothing here. Who sends one sends its own time with it.
	At time.Time `json:"-"`
	// CPU comes from the process's own clock and counts nanoseconds. It holds user and system time.
	CPU time.Duration `json:"cpu_ns"`
	// User and System split the CPU as the kernel's accounting does, in steps of a clock tick (10 ms as a rule),
	// so they serve for shares over seconds and don't add up to CPU exactly. Both are known or both nil.
	User   *time.Duration `json:"user_ns,omitempty"`
	System *time.Duration `json:"system_ns,omitempty"`
	// RSS is the resident memory now and RSSPeak (VmHWM) its highest since the program was started, in bytes. The
	// kernel keeps both in per-CPU counters and may be some hundred KiB late.
	RSS     *uint64 `json:"rss,omitempty"`
	RSSPeak *uint64 `json:"rss_peak,omitempty"`
	// Voluntary and Involuntary count the context switches of the threads that are alive; what threads that have
	// ended did is lost. A Go process ends threads only in rare cases. Both are known or both nil.
	Voluntary   *uint64 `json:"voluntary_switches,omitempty"`
	Involuntary *uint64 `json:"involuntary_switches,omitempty"`
	// Born is when the process started, in ticks since boot: it tells a process from a later one of the same id. Of a control
	// group it is the number of its folder.
	Born *uint64 `json:"born,omitempty"`
	// Below are the processes whose use is in the figures beside that of PID; see ReadTree.
	Below []int `json:"-"`
	// Ended is the part of CPU that is of processes which have ended.
	Ended time.Duration `json:"-"`
}

// Usage is what a process used between two readings.
type Usage struct {
	// Elapsed is the wall time between the readings.
	Elapsed time.Duration
	CPU     time.Duration
	// User and System as in Reading: the share is good, the last 10 ms are not.
	User, System *time.Duration
	// Voluntary and Involuntary count context switches; nil when unknown, or when threads that ended took more
	// counts away than were added.
	Voluntary, Involuntary *uint64
	// RSS and RSSPeak are those of the later reading.
	RSS, RSSPeak *uint64
}

// Add is what a process used in two stretches of time of which u is the earlier one; what is unknown of one is unknown of both.
func (u Usage) Add(later Usage) Usage {
	return Usage{
		Elapsed: u.Elapsed + later.Elapsed, CPU: u.CPU + later.CPU,
		User: plus(u.User, later.User), System: plus(u.System, later.System),
		Voluntary: plus(u.Voluntary, later.Voluntary), Involuntary: plus(u.Involuntary, later.Involuntary),
		RSS: later.RSS, RSSPeak: later.RSSPeak,
	}
}

// plus is nil unless both are known.
func plus[T ~int64 | ~uint64](a, b *T) *T {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// Cores is the CPU used as a number of cores: 1 is one CPU busy all the time. It is nil over an empty window.
func (u Usage) Cores() *float64 {
	if u.Elapsed <= 0 {
		return nil
	}
	return new(u.CPU.Seconds() / u.Elapsed.Seconds())
}

// Switches is the number of context switches of both kinds, nil when unknown.
func (u Usage) Switches() *uint64 {
	if u.Voluntary == nil || u.Involuntary == nil {
		return nil
	}
	return new(*u.Voluntary + *u.Involuntary)
}

// maxPID is the kernel's limit on 64-bit machines (PID_MAX_LIMIT); a larger number would spill into another clock.
const maxPID = 1 << 22

// Read reads the meters of a process, its own or another's (no privileges are needed for the CPU clock; /proc may
// be mounted so that others' entries are hidden, and then all but the CPU is nil). The clock comes first, so that
// At and CPU belong together within microseconds. It may be called concurrently.
func Read(pid int) (Reading, error) {
	r := Reading{PID: pid, At: time.Now()}
	if pid <= 0 || pid > maxPID {
		return r, fmt.Errorf("meter: process %d: a process id is from 1 to %d", pid, maxPID)
	}
	var err error
	if r.CPU, err = processClock(pid); err != nil {
		return r, fmt.Errorf("meter: process %d: %w", pid, err)
	}
	if err := r.readProc(); err != nil {
		return r, fmt.Errorf("meter: process %d: %w", pid, err)
	}
	return r, nil
}

// CPU is Reading.CPU alone, for a thousandth of the price: it can be asked for while a window is measured. Its error is ErrGone where there is no
// such process.
func CPU(pid int) (time.Duration, error) {
	if pid <= 0 || pid > maxPID {
		return 0, fmt.Errorf("meter: process %d: a process id is from 1 to %d", pid, maxPID)
	}
	return processClock(pid)
}

// processClock reads the CPU clock of a process, in nanoseconds. The clock's id is made as in the kernel's
// include/linux/posix-timers.h, and as clock_getcpuclockid(3) does it: the complement of the process id above three
// bits, in which 2 (CPUCLOCK_SCHED) asks the scheduler for its exact run time and bit 2 unset means all threads.
// /proc/PID/stat has the same figure only in ticks of 10 ms.
func processClock(pid int) (time.Duration, error) {
	const schedClock = 2
	var ts unix.Timespec
	switch err := unix.ClockGettime(int32(^pid<<3|schedClock), &ts); {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ESRCH): // the kernel knows no process with this id
		return 0, ErrGone
	case err != nil:
		return 0, fmt.Errorf("read its CPU clock: %w", err)
	}
	return time.Duration(ts.Nano()), nil
}

// readProc reads what /proc tells. Only a process that is gone is an error; anything else that can't be read or
// parsed stays unknown.
func (r *Reading) readProc() error {
	p, err := procfs.NewProc(r.PID)
	if err != nil {
		return r.hiddenOrGone()
	}
	switch stat, err := p.Stat(); {
	case isGone(err):
		return r.hiddenOrGone()
	case err != nil:
	case stat.State == "Z", stat.State == "X":
		// Ended and not yet waited for: its clock still answers, its memory is gone. Whoever meters such a process
		// takes its death for idleness.
		return fmt.Errorf("it has ended and waits to be collected: %w", ErrGone)
	default:
		r.User, r.System = new(ticks(stat.UTime)), new(ticks(stat.STime))
		r.Born = new(stat.Starttime)
	}
	status, err := p.NewStatus()
	if isGone(err) {
		return r.hiddenOrGone()
	}
	if err == nil {
		r.RSS, r.RSSPeak = known(status.VmRSS), known(status.VmHWM)
	}
	r.Voluntary, r.Involuntary = switches(r.PID)
	return nil
}

// hiddenOrGone tells a process without an entry in /proc that lives (nil: the mount hides it) from one that ended
// after its clock was read.
func (r *Reading) hiddenOrGone() error {
	_, err := processClock(r.PID)
	return err
}

// switches adds up the threads: the counters in /proc/PID/status are of the main thread alone.
func switches(pid int) (voluntary, involuntary *uint64) {
	threads, err := procfs.AllThreads(pid)
	if err != nil || len(threads) == 0 {
		return nil, nil
	}
	var v, i uint64
	for _, t := range threads {
		status, err := t.NewStatus()
		if isGone(err) {
			continue // this thread ended between the listing and the reading
		}
		if err != nil {
			return nil, nil
		}
		v += status.VoluntaryCtxtSwitches
		i += status.NonVoluntaryCtxtSwitches
	}
	return &v, &i
}

// isGone says whether err means that a process or thread does not exist, or not any more.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) }

// known is nil for zero: a process that runs a program has memory, so a zero is a line that was not there.
func known(bytes uint64) *uint64 {
	if bytes == 0 {
		return nil
	}
	return &bytes
}

// ticks converts the unit of /proc/PID/stat, a hundredth of a second on every architecture that Go runs on.
func ticks(n uint) time.Duration { return time.Duration(n) * (time.Second / 100) }

// Sub is what a process used from the reading before to the reading after. It refuses readings that are not of
// one process or that stand in the wrong order.
func Sub(after, before Reading) (Usage, error) {
	switch {
	case after.PID != before.PID:
		return Usage{}, fmt.Errorf("meter: readings of two processes, %d and %d", before.PID, after.PID)
	case after.Born != nil && before.Born != nil && *after.Born != *before.Born:
		return Usage{}, fmt.Errorf("meter: process %d: its id was used again in between: %w", before.PID, ErrGone)
	case after.CPU < before.CPU || after.At.Before(before.At):
		return Usage{}, fmt.Errorf("meter: process %d: the readings are in the wrong order (CPU %v, then %v)",
			before.PID, before.CPU, after.CPU)
	}
	return Usage{
		Elapsed: after.At.Sub(before.At), CPU: after.CPU - before.CPU,
		User: minus(after.User, before.User), System: minus(after.System, before.System),
		Voluntary: minus(after.Voluntary, before.Voluntary), Involuntary: minus(after.Involuntary, before.Involuntary),
		RSS: after.RSS, RSSPeak: after.RSSPeak,
	}, nil
}

// minus is nil unless both are known and the counter has not gone backwards.
func minus[T ~int64 | ~uint64](after, before *T) *T {
	if after == nil || before == nil || *after < *before {
		return nil
	}
	return new(*after - *before)
}
