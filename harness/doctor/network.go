package doctor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"bakeoff/harness/run"
)

// openFiles is the line of /proc/PID/limits about them: soft and hard.
var openFiles = regexp.MustCompile(`(?m)^Max open files +(\S+) +(\S+)`)

// easyDescriptors is what a machine made for servers has at least.
const easyDescriptors = 4096

func descriptors(m Machine, p Plan) Finding {
	found := openFiles.FindStringSubmatch(m.read("proc/self/limits"))
	if found == nil {
		return Finding{Level: Unknown, Found: "/proc/self/limits can't be read"}
	}
	need := run.Descriptors(p.Conns, p.InFlight)
	f := Finding{Level: OK, Found: fmt.Sprintf("%s a process, hard limit %s, %d needed for %d calls in flight", found[1], found[2], need, p.InFlight)}
	if found[2] == "unlimited" {
		return f
	}
	hard, err := strconv.ParseUint(found[2], 10, 64)
	advice := fmt.Sprintf("ulimit -Hn %d; LimitNOFILE=%[1]d with systemd; --ulimit nofile=%[1]d with docker", max(need, easyDescriptors))
	switch {
	case err != nil:
		return Finding{Level: Unknown, Found: fmt.Sprintf("a hard limit of %q", found[2])}
	case hard < uint64(need):
		f.Level, f.Advice = Bad, advice
	case hard < easyDescriptors:
		f.Level, f.Advice = Warn, "enough for this and not for much more: "+advice
	}
	return f
}

func ports(m Machine, p Plan) Finding {
	text := run.PortRange(m.Root)
	var low, high int
	if n, err := fmt.Sscan(text, &low, &high); n != 2 || err != nil || low > high {
		return Finding{Level: Unknown, Found: "the range of local ports can't be read"}
	}
	f := Finding{Level: OK, Found: fmt.Sprintf("%d to %d", low, high)}
	// Connections that were closed hold their port for a minute, and every trial opens its own.
	const advice = `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`
	switch have := high - low + 1; {
	case have < p.Conns+100:
		f.Level, f.Found, f.Advice = Bad, fmt.Sprintf("%s: %d for %d connections", f.Found, have, p.Conns), advice
	case have < 10*p.Conns:
		f.Level, f.Found, f.Advice = Warn, fmt.Sprintf("%s: %d, and every trial of a minute opens %d connections, which hold theirs for a minute after", f.Found, have, p.Conns), advice
	}
	return f
}

// tracking is about netfilter's table, which has every connection for two minutes after its end: what dials for each call fills it within a
// run, and then the kernel drops packets, which come again after a second.
func tracking(m Machine, _ Plan) Finding {
	const at = "proc/sys/net/netfilter/nf_conntrack_"
	text := m.read(at + "max")
	switch {
	case text == "" && run.PortRange(m.Root) == "":
		return Finding{Level: Unknown, Found: "/proc/sys/net can't be read"}
	case text == "":
		return Finding{Level: OK, Found: "no connections are tracked"}
	}
	most, err := strconv.ParseUint(text, 10, 64)
	count, countErr := strconv.ParseUint(m.read(at+"count"), 10, 64)
	if err != nil || countErr != nil || most == 0 {
		return Finding{Level: Unknown, Found: "the table of connections (" + at + "*) can't be read"}
	}
	f := Finding{Level: OK, Found: fmt.Sprintf("%d of %d connections", count, most)}
	if count > most/2 {
		f.Level = Warn
		f.Advice = fmt.Sprintf("what dials for each call may fill the rest, and packets are dropped then: wait two minutes, or sysctl -w net.netfilter.nf_conntrack_max=%d", 8*most)
	}
	return f
}

func container(m Machine, _ Plan) Finding {
	name := run.ContainerIn(m.Root, m.Getenv)
	if name == "" {
		return Finding{Level: OK, Found: "none that is known"}
	}
	return Finding{Level: OK, Found: name, Advice: "client, server and store within one container use its loopback; across published ports or bridges figures are of the network mode"}
}

func proxies(m Machine, _ Plan) Finding {
	var set []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY"} {
		for _, n := range []string{name, strings.ToLower(name)} {
			if m.Getenv(n) != "" {
				set = append(set, n) // not the value: it may hold a password
			}
		}
	}
	if len(set) == 0 {
		return Finding{Level: OK, Found: "none is set"}
	}
	exempt := m.Getenv("NO_PROXY") + "," + m.Getenv("no_proxy")
	if strings.Contains(exempt, "127.0.0.1") || strings.Contains(exempt, "*") {
		return Finding{Level: OK, Found: strings.Join(set, ", ") + " set, loopback is exempt"}
	}
	return Finding{Level: Warn, Found: strings.Join(set, ", ") + " set, and NO_PROXY does not exempt 127.0.0.1",
		Advice: "clients may go to loopback by the proxy: unset them, or export NO_PROXY=127.0.0.1,localhost"}
}
