package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// closedStdout says that a file was closed when the program started, as stdout is by >&-: Go's runtime then puts the null device in its
// place, for reading and writing, and no write fails. Shells open it for writing only; some parents (Python's DEVNULL, Node's
// "ignore") open it for both, and mean it. The two can't be told apart, so that this is reason for a warning and none to fail.
func closedStdout(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(info, null) {
		return false
	}
	how, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && how&unix.O_ACCMODE == unix.O_RDWR
}
