package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"bakeoff/harness/admin"
	"bakeoff/harness/meter"
)

// agentFlags are what `bakeoff agent` is told.
type agentFlags struct {
	pid    int
	name   string
	cgroup string
	addr   string
	hosts  []string
}

func agentCommand(s *streams) *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "tell a run what a process has used that is not bakeoff's: a database, a server of your own",
		Long: `agent reads one process, or one control group, and tells 'bakeoff run' at the edges of each window what it has
used: CPU, memory, context switches. It samples nothing and costs nothing in between. It must be in the pid namespace of the
process; in compose that is "pid: service:NAME".`,
		Example: `  bakeoff agent --name asd --addr 127.0.0.1:9100
  bakeoff agent --cgroup /system.slice/aerospike.service
  bakeoff run --store aerospike://127.0.0.1:3000/test --store-agent 127.0.0.1:9100`,
		Args: cobra.NoArgs,
		RunE: work(func(cmd *cobra.Command, _ []string) error {
			given := 0
			for _, flag := range []string{"pid", "name", "cgroup"} {
				if cmd.Flags().Changed(flag) {
					given++
				}
			}
			if given != 1 {
				return usage(errors.New("agent needs one of --pid, --name and --cgroup: what it is to read"))
			}
			if err := f.check(cmd.Context()); err != nil {
				return usage(err)
			}
			return f.serve(cmd.Context(), s)
		}),
	}
	flags := cmd.Flags()
	flags.IntVar(&f.pid, "pid", 0, "`id` of the process to read")
	flags.StringVar(&f.name, "name", "", "`name` of the process to read, as ps -o comm shows it; looked for again when the process is gone")
	flags.StringVar(&f.cgroup, "cgroup", "", "`path` of the control group to read, as in /proc/PID/cgroup, or its folder below /sys/fs/cgroup")
	flags.StringVar(&f.addr, "addr", "127.0.0.1:0", "`host:port` to listen on; port 0 takes a free one, and :port is one of loopback's")
	flags.StringSliceVar(&f.hosts, "host", nil, "`names` by which it may be asked, comma-separated, beside addresses and localhost")
	return cmd
}

func (f agentFlags) check(ctx context.Context) error {
	if f.name == "" && f.cgroup == "" && f.pid < 1 {
		return errors.New("--pid, --name, --cgroup: the one that is given must not be empty, and an id is above 0")
	}
	return checkListen(ctx, f.addr)
}

func (f agentFlags) serve(ctx context.Context, s *streams) error {
	read, what, err := f.reader()
	if err != nil {
		return err
	}
	if _, err := read(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	l, err := listenAside(ctx, "--addr", f.addr)
	if err != nil {
		return err
	}
	server := admin.Listen(l, admin.Options{Read: read, Hosts: f.hosts})
	server.Ready(admin.Info{Role: admin.RoleAgent, Serves: what, Version: version()})
	if _, err := fmt.Fprintf(s.out, "the agent of %s is listening on %s; Ctrl-C stops it\n", what, l.Addr()); err != nil {
		return errors.Join(err, server.Close())
	}
	<-ctx.Done()
	return server.Close()
}

// reader is what reads, and the words for what it reads.
func (f agentFlags) reader() (func() (admin.Usage, error), string, error) {
	if f.cgroup != "" {
		group, err := meter.FindGroup(f.cgroup)
		if err != nil {
			return nil, "", fmt.Errorf("--cgroup: %w", err)
		}
		return func() (admin.Usage, error) {
			r, err := group.Read()
			return admin.Usage{Reading: r, Uptime: admin.Uptime(r.At), Throttled: group.Throttled()}, err
		}, "control group " + f.cgroup, nil
	}
	if f.pid > 0 {
		what := fmt.Sprintf("process %d", f.pid)
		if name := meter.Name(f.pid); name != "" {
			what += " (" + name + ")"
		}
		return func() (admin.Usage, error) { return readProcess(f.pid) }, what, nil
	}
	pid, err := meter.Find(f.name)
	if err != nil {
		return nil, "", fmt.Errorf("--name: %w", err)
	}
	named := &named{name: f.name, pid: pid}
	return named.read, "the process named " + f.name, nil
}

func readProcess(pid int) (admin.Usage, error) {
	r, err := meter.Read(pid)
	return admin.Usage{Reading: r, Uptime: admin.Uptime(r.At)}, err
}

// named reads the process of a name, whichever that is by now: a database that was restarted is another one, which a run notices.
type named struct {
	name string
	mu   sync.Mutex
	pid  int
}

func (n *named) read() (admin.Usage, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	u, err := readProcess(n.pid)
	if !errors.Is(err, meter.ErrGone) {
		return u, err
	}
	pid, err := meter.Find(n.name)
	if err != nil {
		return admin.Usage{}, err
	}
	n.pid = pid
	return readProcess(pid)
}
