// Command bakeoff compares what RPC protocols cost: see README.md. This package is the only one that parses
// flags, prints and exits; each command has its file.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"bakeoff/internal/printable"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // the work could not be done, or a part of it failed: the report of a run has the rest
	exitUsage       = 2   // the command line was wrong; nothing was started
	exitIncomplete  = 3   // nothing failed, but something was not ranked, not judged, or is not known
	exitLimit       = 4   // compare: a change lies beyond a limit of --fail-if
	exitInterrupted = 130 // Ctrl-C, SIGTERM or SIGHUP; what was measured is saved and reported
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The first signal asks for a clean stop; after it the default holds again, so that a second one ends us at once.
	context.AfterFunc(ctx, stop)
	if closedStdout(os.Stdout) {
		fmt.Fprintln(os.Stderr, "bakeoff: warning: stdout is closed or the null device: what is written there is lost (-o FORMAT=FILE writes a report to a file)")
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// outliveReaders has writes to a stdout or stderr that nobody reads any more fail like others, until its result is called: by Go's default
// they end the program, and what it measures would be lost with the end of a "| head" or of a terminal's log.
func outliveReaders() (end func()) {
	broken := make(chan os.Signal, 1) // that it is taken is enough; ignored, it would be ignored in children too
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// streams are the three files of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitError ends the command with a code of its own. A nil err says that all was said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage marks an error of the command line.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

// watchedWriter remembers the first error of its writer. It may be used by several goroutines, as far as the writer may.
type watchedWriter struct {
	w     io.Writer
	mu    sync.Mutex
	first error
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if err != nil {
		w.mu.Lock()
		w.first = cmp.Or(w.first, err)
		w.mu.Unlock()
	}
	return n, err
}

func (w *watchedWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

// run is the whole command; main only adds the process around it.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	told := &watchedWriter{w: out}
	out = told
	s := &streams{in: in, out: out, err: errOut}
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if failed := told.failure(); err == nil && failed != nil {
		err = &exitError{exitFailed, fmt.Errorf("write to stdout: %w", failed)} // help does not say so itself
	}
	if err == nil {
		return exitOK
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		// Errors of our own commands are wrapped by work(); what is left is cobra's, about the command line.
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		fmt.Fprintf(errOut, "bakeoff: %s\n", printable.Text(err.Error())) // names in it may come from a file
		if exit.code == exitUsage {
			fmt.Fprintln(errOut, "bakeoff: see 'bakeoff help' and 'bakeoff list'")
		}
	}
	return exit.code
}

// work makes a cobra body of one of ours: its plain errors end with exitFailed, not as errors of usage.
func work(body func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := body(cmd, args)
		var exit *exitError
		if err == nil || errors.As(err, &exit) {
			return err
		}
		return &exitError{exitFailed, err}
	}
}

func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "bakeoff",
		Short: "compare what gRPC, Thrift and HTTP cost, on this machine, with the doubt beside each number",
		Long: `bakeoff serves the same services over gRPC, Apache Thrift and HTTP, drives the same load through each, and
tabulates throughput, latency, CPU, memory and bytes, with the doubt beside every number.

Start with:  bakeoff run

Exit codes: 0 done; 1 the work could not be done, or a part of it failed: trials of a run, as when a server died (the
report has the others); 2 the command line was wrong; 3 nothing failed, but a row is not ranked, a figure is not known,
a limit could not be judged, the precision that was asked for was not reached, or no rate was found; 4 a change lies
beyond a limit of compare --fail-if; 130 interrupted, with what was measured saved.`,
		PersistentPreRunE: noneEmpty,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(runCommand(s), serveCommand(s), driveCommand(s), reportCommand(s), liveCommand(s), compareCommand(s), calibrateCommand(s), doctorCommand(s), agentCommand(s), healthCommand(s), certsCommand(s), listCommand(s), versionCommand(s))
	return root
}
