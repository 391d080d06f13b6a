package meter

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func (c *child) readTree() Reading {
	c.t.Helper()
	r, err := ReadTree(c.cmd.Process.Pid)
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// TestTree reads a process that works, one that it has started, and one that that has started, as one; then what is left of those that have ended.
func TestTree(t *testing.T) {
	c := startChild(t)
	if r, alone := c.readTree(), c.read(); len(r.Below) != 0 || r.PID != alone.PID || r.CPU > alone.CPU || r.RSSPeak == nil || *r.RSSPeak > *alone.RSSPeak {
		t.Errorf("a process that has started none: got %+v, want about %+v", r, alone)
	}
	c.do("below below warm up")
	before := c.readTree()
	if len(before.Below) != 2 {
		t.Fatalf("below it are %v, want a child and its child", before.Below)
	}
	own, _ := c.do("burn 200ms")
	child, _ := c.do("below burn 300ms")
	grandchild, _ := c.do("below below burn 400ms")
	truth := own + child + grandchild
	after := c.readTree()
	u := sub(t, after, before)
	if ratio := u.CPU.Seconds() / truth.Seconds(); ratio < 0.97 || ratio > 1.05 {
		t.Errorf("read %v of CPU where the processes say %v: ratio %.3f", u.CPU, truth, ratio)
	}
	if u.User == nil || u.System == nil || u.Switches() == nil {
		t.Errorf("unknown: user %v, system %v, switches %v", u.User, u.System, u.Switches())
	}
	if sum, err := CPUOf(append([]int{after.PID}, after.Below...)...); err != nil || sum < after.CPU || sum > after.CPU+time.Second {
		t.Errorf("the clocks say %v (%v), the reading before them %v", sum, err, after.CPU)
	}

	// Memory that is shared counts once: less than the sum of what each has mapped, and more than what one has.
	var sum, most uint64
	for _, pid := range append([]int{after.PID}, after.Below...) {
		r, err := Read(pid)
		if err != nil || r.RSS == nil {
			t.Fatalf("process %d: %+v, %v", pid, r, err)
		}
		sum, most = sum+*r.RSS, max(most, *r.RSS)
	}
	if after.RSS == nil || after.RSSPeak == nil || *after.RSS >= sum || *after.RSS*10 < most || *after.RSSPeak < *after.RSS {
		t.Errorf("memory %v, peak %v; the processes have %d mapped in sum, one of them %d", after.RSS, after.RSSPeak, sum, most)
	}

	c.do("end-below")
	ended := c.readTree()
	if len(ended.Below) != 0 {
		t.Errorf("below it are %v, which have ended", ended.Below)
	}
	// The kernel's accounting of those that have ended has steps of 10 ms, for user and system time of each.
	if least := after.CPU - 40*time.Millisecond; ended.CPU < least || ended.Ended < child+grandchild-40*time.Millisecond {
		t.Errorf("with the others ended the CPU is %v, of which %v of those, before it was %v", ended.CPU, ended.Ended, after.CPU)
	}
}

func TestTreeOfNobody(t *testing.T) {
	c := startChild(t)
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if r, err := ReadTree(c.cmd.Process.Pid); !errors.Is(err, ErrGone) {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestDescendantsByParent: without the kernel's lists the same are found.
func TestDescendantsByParent(t *testing.T) {
	c := startChild(t)
	c.do("below below warm up")
	byList, err := descendants(c.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	byParent, err := descendantsByParent(c.cmd.Process.Pid)
	slices.Sort(byList)
	slices.Sort(byParent)
	if err != nil || len(byList) != 2 || !slices.Equal(byList, byParent) {
		t.Errorf("got %v and %v, %v, want two alike", byList, byParent, err)
	}
}
