package run

import "os/exec"

// Pinned starts cmd on these CPUs, so that its Go runtime sizes itself by them from the first instruction: for
// benchmarks, which keep processes of their own. cmd must not set Pdeathsig: the thread that starts it ends at once.
func Pinned(cmd *exec.Cmd, cpus []int) error {
	s := newStarter()
	defer s.close()
	return s.start(cmd, cpus)
}
