package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Descriptors is how many file descriptors one process of a trial may need: a server has the clients' connections
// and a connection to the store for each call in flight, and some for itself.
func Descriptors(conns, inFlight int) int { return conns + inFlight + 64 }

// CheckDescriptors makes sure that this process, and so its children, may open need file descriptors. It raises the
// soft limit to the hard one if that is needed; the error says what to raise.
func CheckDescriptors(need int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("the limit of file descriptors: %w", err)
	}
	if uint64(need) <= limit.Cur {
		return nil
	}
	if uint64(need) <= limit.Max {
		limit.Cur = limit.Max
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return fmt.Errorf("raising the limit of file descriptors to %d: %w", limit.Max, err)
		}
		return nil
	}
	return fmt.Errorf("the plan needs %d file descriptors a process and the hard limit is %d: raise it (ulimit -Hn %d; "+
		"LimitNOFILE=%d with systemd; --ulimit nofile=%d with docker), or use fewer connections or calls in flight",
		need, limit.Max, need, need, need)
}

// CheckPorts makes sure that so many connections to one address are possible at a time; the error says what to
// raise. Where the range can't be read nothing is known, and nothing refused.
func CheckPorts(conns int) error {
	text := PortRange("/")
	if text == "" {
		return nil
	}
	return checkPorts(conns, text)
}

// PortRange is which local ports outgoing connections get, as the kernel of the file system at root says it: "32768 60999". It is "" where
// that can't be read.
func PortRange(root string) string {
	text, err := os.ReadFile(filepath.Join(root, "proc/sys/net/ipv4/ip_local_port_range"))
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// sparePorts are left to whatever else this machine connects to.
const sparePorts = 100

func checkPorts(conns int, text string) error {
	var low, high int
	if n, err := fmt.Sscan(text, &low, &high); n != 2 || err != nil || low > high {
		return nil
	}
	if have := high - low + 1 - sparePorts; conns > have {
		return fmt.Errorf("the plan opens %d connections and the range of local ports (%s) has room for %d: widen it "+
			"(sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"), or use fewer connections",
			conns, strings.Join(strings.Fields(text), "-"), max(0, have))
	}
	return nil
}
