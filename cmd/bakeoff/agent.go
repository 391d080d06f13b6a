package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"bakeoff/harness/admin"
	"bakeoff/harness/meter"
	"bakeoff/internal/printable"
)

// agentFlags are what `bakeoff agent` is told.
type agentFlags struct {
	pid    int
	name   string
	cgroup string
	wait   bool
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
process. In containers let the process join the agent's ("pid: service:agent" in compose) and have the agent --wait for it: the
agent then outlives a restart of the process, whose own namespace would end with it.`,
		Example: `  bakeoff agent --name asd --addr 127.0.0.1:9100
  bakeoff agent --name asd --wait --addr 0.0.0.0:9100 --host agent
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
	flags.BoolVar(&f.wait, "wait", false, "with --name: begin before there is such a process, and be ready (/ready) when there is one")
	flags.StringVar(&f.addr, "addr", "127.0.0.1:0", "`host:port` to listen on; port 0 takes a free one, and :port is one of loopback's")
	flags.StringSliceVar(&f.hosts, "host", nil, "`names` by which it may be asked, comma-separated, beside addresses and localhost")
	return cmd
}

func (f agentFlags) check(ctx context.Context) error {
	if f.name == "" && f.cgroup == "" && f.pid < 1 {
		return errors.New("--pid: an id is above 0")
	}
	if f.wait && f.name == "" {
		return errors.New("--wait: goes with --name: an id or a control group is that of something that is there")
	}
	return checkListen(ctx, f.addr)
}

func (f agentFlags) serve(ctx context.Context, s *streams) error {
	read, what, err := f.reader()
	if err != nil {
		return err
	}
	if _, err := read(); err != nil && !f.wait {
		return fmt.Errorf("%s: %w", what, err)
	}
	l, err := listenAside(ctx, "--addr", f.addr)
	if err != nil {
		return err
	}
	server := admin.Listen(l, admin.Options{Read: read, Hosts: f.hosts})
	info := admin.Info{Role: admin.RoleAgent, Serves: what, Version: version()}
	if !f.wait {
		server.Ready(info)
	}
	if _, err := fmt.Fprintf(s.out, "the agent of %s is listening on %s; Ctrl-C stops it\n", what, l.Addr()); err != nil {
		return errors.Join(err, server.Close())
	}
	if f.wait && awaitProcess(ctx, s, read) {
		server.Ready(info)
		fmt.Fprintf(s.out, "%s is there\n", what)
	}
	<-ctx.Done()
	return server.Close()
}

// lookEvery is how often an agent looks for the process that it waits for. Once it has found one it looks when it is asked.
const lookEvery = 100 * time.Millisecond

// awaitProcess returns true when there is something to read, and false when ctx has ended. Each reason why there is not is said once.
func awaitProcess(ctx context.Context, s *streams, read func() (admin.Usage, error)) bool {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	said := ""
	for {
		_, err := read()
		if err == nil {
			return true
		}
		if said != err.Error() {
			said = err.Error()
			fmt.Fprintf(s.err, "bakeoff: waiting: %s\n", printable.Text(said))
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
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
	named := &named{name: f.name}
	var err error
	if named.pid, err = meter.Find(f.name); err != nil && !f.wait {
		return nil, "", fmt.Errorf("--name: %w", err)
	}
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
	pid  int // 0 before one was found
}

func (n *named) read() (admin.Usage, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pid > 0 {
		if u, err := readProcess(n.pid); !errors.Is(err, meter.ErrGone) {
			return u, err
		}
	}
	pid, err := meter.Find(n.name)
	if err != nil {
		return admin.Usage{}, err
	}
	n.pid = pid
	return readProcess(pid)
}
