package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bakeoff/harness/plan"
	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/store/aerospike"
)

const healthUsage = "http://host:port/path, aerospike://host:port/namespace, or NAME=host:port"

func healthCommand(s *streams) *cobra.Command {
	var timeout, every time.Duration
	var overTLS runTLSFlags
	cmd := &cobra.Command{
		Use:   "health ADDRESS",
		Short: "ask a server once whether it is well; the exit code says it",
		Long: `health asks a server once, and ends with 0 if it is well, else with 1 and the reason. It is the health check of
containers that hold no other program. ADDRESS is one of:

  http://host:port/path            a page that answers with status 200, such as the readiness of 'serve --admin'
  aerospike://host:port/namespace  an Aerospike, or the embedded store: it answers, and is where it says that it is
  NAME=host:port                   a server of a subject ('bakeoff list'): it answers a call, which it counts;
                                   NAME+tls is one over TLS, with --tls-ca and the like as of 'run --target'

Docker starts each check anew, which costs as much CPU as thousands of the requests that are measured next to it. With
--every the first good answer in a container is given at once, so that nobody waits longer for the container, and each
later one is held back that long and asked for again.`,
		Example: `  bakeoff health aerospike://127.0.0.1:3000/test
  bakeoff health grpc=127.0.0.1:20000
  bakeoff health http://127.0.0.1:20001/ready --every 30s`,
		Args: exactly(1, "an address", "bakeoff health grpc=127.0.0.1:20000"),
		RunE: work(func(cmd *cobra.Command, args []string) error {
			if timeout <= 0 {
				return usage(fmt.Errorf("--timeout %v: must be above 0", timeout))
			}
			if every < 0 {
				return usage(fmt.Errorf("--every %v: must not be negative", every))
			}
			ask, err := healthCheck(args[0], timeout, overTLS)
			if err != nil {
				return usage(err)
			}
			err = ask(cmd.Context())
			if every > 0 && err == nil && !firstWell(args[0]) {
				select {
				case <-time.After(every):
					err = ask(cmd.Context())
				case <-cmd.Context().Done():
					return &exitError{exitInterrupted, errors.New("interrupted before the second question")}
				}
			}
			if err != nil {
				if every > 0 {
					_ = os.Remove(wellFile(args[0])) // the next good answer is a first one again; where there is no file it is already
				}
				return fmt.Errorf("%s is not well: %w", args[0], err)
			}
			_, err = fmt.Fprintf(s.out, "%s is well\n", args[0])
			return err
		}),
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "how long an answer is waited for")
	overTLS.registerClient(cmd.Flags())
	cmd.Flags().DurationVar(&every, "every", 0, "after the first good answer in this container: hold the answer back this long, and ask again")
	return cmd
}

// firstWell says whether an answer is the first good one in this container. It is noted in the container's shared memory, which is
// writable where nothing else is and is gone when the container stops. Where it can't be noted each answer is the first.
func firstWell(address string) bool {
	f, err := os.OpenFile(wellFile(address), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return !errors.Is(err, fs.ErrExist)
	}
	f.Close()
	return true
}

func wellFile(address string) string {
	return filepath.Join("/dev/shm", "bakeoff-well-"+url.PathEscape(address))
}

// healthCheck is the question for an address; its error is that the address is wrong. Nothing is opened yet.
func healthCheck(address string, timeout time.Duration, overTLS runTLSFlags) (func(context.Context) error, error) {
	within := func(ask func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			return ask(ctx)
		}
	}
	bad := func(err error) error { return fmt.Errorf("address %q: %w; write %s", address, err, healthUsage) }
	name, at, named := strings.Cut(address, "=")
	if err := overTLS.applyOne(named && plan.IsOverTLS(name)); err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(address, aerospike.Scheme+"://"):
		if err := aerospike.CheckAddress(address); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error { return storeIsWell(ctx, address, timeout) }, nil // it has the timeout itself
	case strings.HasPrefix(address, "http://"):
		r, err := http.NewRequest(http.MethodGet, address, nil)
		if err == nil {
			_, _, err = net.SplitHostPort(r.URL.Host)
		}
		if err != nil {
			return nil, bad(err)
		}
		return within(func(ctx context.Context) error { return pageIsWell(r.WithContext(ctx)) }), nil
	case named:
		p, err := overTLS.subject(name)
		if err != nil {
			return nil, err
		}
		if _, _, err := net.SplitHostPort(at); err != nil {
			return nil, bad(err)
		}
		return within(func(ctx context.Context) error { return subjectIsWell(ctx, p, at) }), nil
	}
	return nil, bad(errors.New("it is none that can be asked"))
}

// storeIsWell also tries the addresses that the store advertises: a client that can't reach them has no use of one that answers.
func storeIsWell(ctx context.Context, address string, timeout time.Duration) error {
	r, err := aerospike.Examine(ctx, address, timeout)
	if err != nil {
		return err
	}
	for _, at := range r.Advertised {
		if why, ok := r.Unreachable[at]; ok {
			return fmt.Errorf("it advertises %s, which can't be reached from here: %s", at, why)
		}
	}
	return nil
}

// pageIsWell asks directly, past any proxy that the environment names: it is a neighbour that is asked.
func pageIsWell(r *http.Request) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 200)) // the status alone tells enough
	return fmt.Errorf("it answers %s: %s", answer.Status, strings.TrimSpace(string(said)))
}

// subjectIsWell makes a call that needs neither a token nor the store.
func subjectIsWell(ctx context.Context, p protocol.Protocol, at string) error {
	client, err := p.Dial(ctx, at, p.Options(1, 1))
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.GetFeature(ctx, service.Point{})
	return err
}
