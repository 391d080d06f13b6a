package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// ReadTree is Read of a process together with all that it has started, and what those have, as far as they live, in one reading. Of what has ended and
// was waited for, the CPU is in it, too, as the kernel's accounting has it: in steps of a clock tick (10 ms), where that of the living is in nanoseconds.
// A process that outlived its parent belongs to none.
//
// Memory is that of Read, and of what it has started once what those share, and what each has of its own: RSS is exact where all of them share the same
// pages, as the processes that one has forked do. RSSPeak adds what each had more of at its own peak. It may be called concurrently.
func ReadTree(pid int) (Reading, error) {
	for try := 1; ; try++ {
		r, err := readTree(pid)
		if !errors.Is(err, errEnded) || try == treeTries {
			return r, err
		}
	}
}

// treeTries is how often a tree is read of which a process ended while it was: its CPU may have been read twice or not at all.
const treeTries = 5

var errEnded = errors.New("it ended while it was read")

func readTree(pid int) (Reading, error) {
	below, err := descendants(pid)
	if err != nil {
		return Reading{PID: pid}, fmt.Errorf("meter: process %d: what it has started: %w", pid, err)
	}
	if len(below) == 0 {
		r, err := Read(pid)
		if err == nil {
			r.addEnded()
		}
		return r, err
	}
	// All clocks are read before anything else, as near to At as they can be.
	clocks := make(map[int]time.Duration, len(below))
	at := time.Now()
	own, err := CPU(pid)
	if err != nil {
		return Reading{PID: pid}, fmt.Errorf("meter: process %d: %w", pid, err)
	}
	for _, p := range below {
		if cpu, err := CPU(p); err == nil {
			clocks[p] = cpu
		} else if !errors.Is(err, ErrGone) {
			return Reading{PID: pid}, fmt.Errorf("meter: process %d, started by %d: %w", p, pid, err)
		}
	}
	r, err := Read(pid)
	if err != nil {
		return r, err
	}
	r.At, r.CPU = at, own
	r.addEnded()
	var most uint64 // that one of them shares
	for _, p := range below {
		cpu, ok := clocks[p]
		if !ok {
			continue // it ended in between, and is among those that were waited for
		}
		c := Reading{PID: p, CPU: cpu}
		err := c.readProc()
		if errors.Is(err, ErrGone) {
			if _, err := CPU(p); err != nil {
				return r, fmt.Errorf("meter: process %d, started by %d: %w", p, pid, errEnded)
			}
			r.CPU += cpu // it waits to be collected, and its memory is gone
			continue
		}
		if err != nil {
			return r, fmt.Errorf("meter: process %d, started by %d: %w", p, pid, err)
		}
		c.addEnded()
		m := memoryOf(p)
		most = max(most, m.shared)
		c.RSS, c.RSSPeak = m.own, m.ownPeak
		r.Below = append(r.Below, p)
		r.CPU, r.Ended = r.CPU+c.CPU, r.Ended+c.Ended
		r.User, r.System = plus(r.User, c.User), plus(r.System, c.System)
		r.RSS, r.RSSPeak = plus(r.RSS, c.RSS), plus(r.RSSPeak, c.RSSPeak)
		r.Voluntary, r.Involuntary = plus(r.Voluntary, c.Voluntary), plus(r.Involuntary, c.Involuntary)
	}
	r.RSS, r.RSSPeak = plus(r.RSS, &most), plus(r.RSSPeak, &most)
	return r, nil
}

// CPUOf is the sum of CPU of several processes.
func CPUOf(pids ...int) (time.Duration, error) {
	var sum time.Duration
	for _, pid := range pids {
		cpu, err := CPU(pid)
		if err != nil {
			return 0, err
		}
		sum += cpu
	}
	return sum, nil
}

// addEnded adds the CPU of the children that have ended and were waited for, and of those that they waited for.
func (r *Reading) addEnded() {
	p, err := procfs.NewProc(r.PID)
	if err != nil {
		return
	}
	stat, err := p.Stat()
	if err != nil || stat.CUTime < 0 || stat.CSTime < 0 {
		return
	}
	user, system := ticks(uint(stat.CUTime)), ticks(uint(stat.CSTime))
	r.Ended = user + system
	r.CPU += r.Ended
	r.User, r.System = plus(r.User, &user), plus(r.System, &system)
}

// memory is that of one process in bytes: what it shares with others, and what it has alone, now and at its peak. Nil is unknown.
type memory struct {
	shared       uint64
	own, ownPeak *uint64
}

func memoryOf(pid int) memory {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return memory{}
	}
	sum, err := p.ProcSMapsRollup()
	if err != nil || sum.Rss == 0 {
		return memory{}
	}
	own := sum.PrivateClean + sum.PrivateDirty
	m := memory{shared: sum.Rss - min(sum.Rss, own), own: &own}
	if status, err := p.NewStatus(); err == nil && status.VmHWM > 0 {
		m.ownPeak = new(own + status.VmHWM - min(status.VmHWM, status.VmRSS))
	}
	return m
}

// descendants are the processes that pid has started, those that they have started, and so on, by the kernel's lists, or where it keeps none by the
// parents of all processes.
func descendants(pid int) ([]int, error) {
	if !hasLists() {
		return descendantsByParent(pid)
	}
	var all []int
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/children", next[0])) // of each thread
		if err != nil {
			return nil, err
		}
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if isGone(err) || errors.Is(err, fs.ErrPermission) {
				continue // the thread has ended, or the process is hidden
			}
			if err != nil {
				return nil, err
			}
			for word := range strings.FieldsSeq(string(text)) {
				child, err := strconv.Atoi(word)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", list, err)
				}
				all, next = append(all, child), append(next, child)
			}
		}
	}
	return all, nil
}

// hasLists says whether this kernel lists children (CONFIG_PROC_CHILDREN).
func hasLists() bool {
	_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	return err == nil
}

func descendantsByParent(pid int) ([]int, error) {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, p := range procs {
		if stat, err := p.Stat(); err == nil {
			children[stat.PPID] = append(children[stat.PPID], p.PID)
		}
	}
	var all []int
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		all, next = append(all, children[next[0]]...), append(next, children[next[0]]...)
	}
	return all, nil
}
