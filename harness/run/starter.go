package run

import (
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// starter is the one OS thread from which all processes of a run are started. There are two reasons for it. A child
// inherits the CPU affinity of the thread that forks it, and only so does its Go runtime see from its first
// instruction which CPUs it has, and sizes itself by them (a GOMAXPROCS above the CPUs given costs a gRPC server
// 64 %). And the kernel sends Pdeathsig when the forking thread ends, not the process: this thread lives as long as
// the run. As its goroutine never unlocks it, the thread with its narrowed affinity ends with it and serves no others;
// the runtime makes new threads from another one while it lives.
type starter struct {
	jobs chan func()
	done chan struct{}
}

func newStarter() *starter {
	s := &starter{jobs: make(chan func()), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		runtime.LockOSThread()
		for job := range s.jobs {
			job()
		}
	}()
	return s
}

// close ends the thread, and with it any child that is still there.
func (s *starter) close() {
	close(s.jobs)
	<-s.done
}

// do runs f on the thread.
func (s *starter) do(f func() error) error {
	failed := make(chan error)
	s.jobs <- func() { failed <- f() }
	return <-failed
}

// start starts cmd on these CPUs, on any for none.
func (s *starter) start(cmd *exec.Cmd, cpus []int) error {
	return s.do(func() error {
		if len(cpus) > 0 {
			if err := pinThread(cpus); err != nil {
				return err
			}
		}
		return cmd.Start()
	})
}

// try says whether a process can be put on these CPUs, and leaves the thread where it was.
func (s *starter) try(cpus []int) error {
	return s.do(func() error {
		var all unix.CPUSet
		if err := unix.SchedGetaffinity(0, &all); err != nil {
			return err
		}
		if err := pinThread(cpus); err != nil {
			return err
		}
		return unix.SchedSetaffinity(0, &all)
	})
}

// pinThread narrows the affinity of the calling thread (0 is the thread, not the process). Of CPUs that are not
// there the kernel would take the rest in silence, so what it made of the set is read back.
func pinThread(cpus []int) error {
	var want, got unix.CPUSet
	for _, n := range cpus {
		want.Set(n)
	}
	if err := unix.SchedSetaffinity(0, &want); err != nil {
		return fmt.Errorf("pin to CPU %s: %w", FormatCPUs(cpus), err)
	}
	if err := unix.SchedGetaffinity(0, &got); err != nil {
		return fmt.Errorf("pin to CPU %s: %w", FormatCPUs(cpus), err)
	}
	if got != want {
		return fmt.Errorf("pin to CPU %s: not all of them are there", FormatCPUs(cpus))
	}
	return nil
}
