package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"bakeoff/harness/live"
	"bakeoff/harness/report"
)

func liveCommand(s *streams) *cobra.Command {
	var (
		addr    string
		hosts   []string
		options report.Options
	)
	cmd := &cobra.Command{
		Use:   "live FILE|DIR",
		Short: "show a result file in a browser while a run writes it, or a folder of them to choose from",
		Long: `live serves the report of a result file as a page that moves while another process writes the file, until Ctrl-C. Of a folder it
lists the result files, to look at one or to lay several side by side; links to files are not followed there. It only reads.

A page is made when the file has changed and somebody looks, which takes CPU: on the machine that measures, 'bakeoff run --live' makes it
between the trials.`,
		Example: `  bakeoff live results
  bakeoff live results/datatype.jsonl --addr 127.0.0.1:8099`,
		Args: exactly(1, "a result file or a folder", "bakeoff live results"),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			if err := checkListen(cmd.Context(), addr); err != nil {
				return usage(err)
			}
			server, err := live.New(live.Options{Path: args[0], Report: options, Hosts: hosts})
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: there is no such file or folder", args[0])
			}
			if err != nil {
				return err
			}
			return serveLive(cmd.Context(), s, server, addr)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&addr, "addr", liveAddr, "`host:port` to listen on; port 0 takes a free one, and :port is one of loopback's")
	flags.StringSliceVar(&hosts, "host", nil, liveHosts)
	flags.StringVar(&options.Baseline, "baseline", "", "`subject` that the others are compared with (default: the run's)")
	registerRankFlagged(flags, &options.RankFlagged)
	return cmd
}

func serveLive(ctx context.Context, s *streams, server *live.Server, addr string) error {
	l, err := listenAside(ctx, "--addr", addr)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.out, "look at http://%s/; Ctrl-C ends it\n", l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	warnOpen(s, l.Addr())
	return server.Serve(ctx, l)
}
