package load

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// kernelAlarm waits by a timer of the kernel (timerfd) that wakes the runtime's poller as a socket does: as exact as the
// machine wakes up, some tens of microseconds, and asleep until then. What was weighed against it: Go's timers are up to
// a millisecond late; clock_nanosleep holds the processor of a driver that has only one, so that answers that arrive
// meanwhile are read late; and a loop of runtime.Gosched burns a CPU and starves the poller too.
type kernelAlarm struct {
	file *os.File
}

func newKernelAlarm() (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("load: a timer to wait for due times: %w", err)
	}
	return &kernelAlarm{os.NewFile(uintptr(fd), "timerfd")}, nil
}

func (a *kernelAlarm) wait(d time.Duration) bool {
	raw, err := a.file.SyscallConn()
	if err != nil {
		return false
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, int64(d)))} // zero would disarm it
	var set error
	if err := raw.Control(func(fd uintptr) { set = unix.TimerfdSettime(int(fd), 0, &spec, nil) }); err != nil || set != nil {
		return false
	}
	var expirations [8]byte
	_, err = a.file.Read(expirations[:])
	return err == nil
}

// stop ends a Read by its deadline; closing waits until nobody uses the file.
func (a *kernelAlarm) stop() { _ = a.file.SetReadDeadline(time.Unix(0, 1)) } // fails only for a file that is closed

func (a *kernelAlarm) close() { _ = a.file.Close() } // nothing was written to it
