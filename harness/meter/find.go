package meter

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// maxComm is how many bytes of a program's name the kernel keeps (TASK_COMM_LEN, without the NUL).
const maxComm = 15

// Find is the id of the one process, beside this one, that runs under a name: the first 15 bytes of its program's, as ps -o comm and
// /proc/PID/comm have it.
func Find(name string) (int, error) {
	procs, err := procfs.AllProcs()
	if err != nil {
		return 0, fmt.Errorf("processes: %w", err)
	}
	var pids []int
	for _, p := range procs {
		if p.PID == os.Getpid() {
			continue
		}
		// One that can't be read has ended, or is hidden; one that waits to be collected uses nothing more.
		comm, err := p.Comm()
		if err != nil || comm != name[:min(len(name), maxComm)] {
			continue
		}
		if stat, err := p.Stat(); err == nil && stat.State != "Z" && stat.State != "X" {
			pids = append(pids, p.PID)
		}
	}
	switch len(pids) {
	case 1:
		return pids[0], nil
	case 0:
		return 0, fmt.Errorf("no process is named %q: ps -eo pid,comm shows the names that there are; in a container it sees its own pid namespace only", name)
	}
	slices.Sort(pids)
	var words []string
	for _, pid := range pids {
		words = append(words, strconv.Itoa(pid))
	}
	return 0, fmt.Errorf("%d processes are named %q (%s): name one by its id", len(pids), name, strings.Join(words, ", "))
}

// Name is what the kernel calls a process, "" where that can't be read.
func Name(pid int) string {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return ""
	}
	comm, err := p.Comm()
	if err != nil {
		return ""
	}
	return comm
}
