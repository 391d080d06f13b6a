package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bakeoff/internal/certs"
	"bakeoff/internal/plural"
)

// certsFlags are what `bakeoff certs` is told.
type certsFlags struct {
	hosts []string
	days  int
	force bool
}

// defaultDays is ample for trials, and soon enough for a key that was left lying about.
const defaultDays = 30

func certsCommand(s *streams) *cobra.Command {
	var f certsFlags
	cmd := &cobra.Command{
		Use:   "certs DIR",
		Short: "make certificates for trials: a CA, a server's and a client's",
		Long: `certs writes into DIR a CA of its own, and a server's and a client's certificate that it has signed (ECDSA P-256).
They are for trials: the CA's key lies beside them, so nothing else should trust that CA. 'bakeoff run --tls' makes
its own and needs none of these.`,
		Example: `  bakeoff certs certs --host bench.example --host 10.0.0.7
  bakeoff serve grpc --addr 127.0.0.1:20000 --tls-cert certs/server.pem --tls-key certs/server-key.pem`,
		Args: exactly(1, "a directory", "bakeoff certs certs"),
		RunE: work(func(_ *cobra.Command, args []string) error { return f.make(s, args[0]) }),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.hosts, "host", nil, "`name` or IP address that the server's certificate is for, beside "+strings.Join(certs.LocalNames, ", ")+"; may be repeated")
	flags.IntVar(&f.days, "days", defaultDays, fmt.Sprintf("for how many days they are valid, from now on; 1 to %d", certs.MaxDays))
	flags.BoolVar(&f.force, "force", false, "put them in the place of those that are there")
	return cmd
}

func (f certsFlags) make(s *streams, dir string) error {
	set, err := certs.Make(time.Now(), f.days, f.hosts...)
	if err != nil {
		return usage(err)
	}
	files, err := set.Write(dir, f.force)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: choose another directory, or --force to put new ones in their place", err)
	}
	if err != nil {
		return fmt.Errorf("write certificates: %w", err)
	}
	base := filepath.Base
	_, err = fmt.Fprintf(s.out, `certificates for trials are in %s, valid for %s, from %s to %s
the server's is for %s
  %-10s %-15s the CA: for clients (--tls-ca), and for servers that ask clients for certificates (--client-ca)
  %-10s %-15s for servers (--tls-cert, --tls-key)
  %-10s %-15s for clients of servers that ask (--client-cert, --client-key)
`, dir, plural.Of(f.days, "day"), set.From.Format(time.RFC3339), set.Until.Format(time.RFC3339), strings.Join(set.Names, ", "),
		base(files.CA), base(files.CAKey), base(files.Server), base(files.ServerKey), base(files.Client), base(files.ClientKey))
	return err
}
