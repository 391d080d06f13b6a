package planted

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// spin keeps a processor busy for so many turns. Each turn needs the one before (xorshift), so that it touches no memory and
// can't be done side by side; noinline keeps the compiler from seeing that nobody wants the answer.
//
//go:noinline
func spin(turns int) uint64 {
	x := uint64(88172645463325252)
	for range turns {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// turnsPerSecond is how fast spin is, by the CPU clock of the thread, which stands still while the thread does not run. Asking
// that clock in every call would cost more than the smallest extra is to be.
func turnsPerSecond() (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const turns, batches = 200_000, 15 // about half a millisecond each: far above what reading the clock takes
	rates := make([]float64, 0, batches)
	for range batches {
		before, err := threadCPU()
		if err != nil {
			return 0, err
		}
		runtime.KeepAlive(spin(turns))
		after, err := threadCPU()
		if err != nil {
			return 0, err
		}
		rates = append(rates, turns/max(after-before, time.Nanosecond).Seconds())
	}
	slices.Sort(rates)
	return rates[batches/2], nil
}

// threadCPU is the processor time of the calling thread.
func threadCPU() (time.Duration, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0, fmt.Errorf("read the CPU clock of the thread: %w", err)
	}
	return time.Duration(ts.Nano()), nil
}
