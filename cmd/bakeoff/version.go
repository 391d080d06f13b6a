package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of bakeoff and of the libraries that it compares",
		Args:  cobra.NoArgs,
		RunE: work(func(*cobra.Command, []string) error {
			if _, err := fmt.Fprintf(s.out, "bakeoff %s, %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH); err != nil {
				return err
			}
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return nil
			}
			for _, m := range info.Deps {
				if compared[m.Path] {
					if _, err := fmt.Fprintf(s.out, "%s %s\n", m.Path, m.Version); err != nil {
						return err
					}
				}
			}
			return nil
		}),
	}
}

// compared are the libraries whose versions decide what is measured.
var compared = map[string]bool{
	"google.golang.org/grpc":                      true,
	"google.golang.org/protobuf":                  true,
	"github.com/apache/thrift":                    true,
	"github.com/valyala/fasthttp":                 true,
	"github.com/aerospike/aerospike-client-go/v7": true,
}

// version is the module's version, or the revision of the checkout that it was built from, or "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, set := range info.Settings {
		switch {
		case set.Key == "vcs.revision":
			rev = set.Value
		case set.Key == "vcs.modified" && set.Value == "true":
			dirty = "+dirty"
		}
	}
	if rev == "" {
		return "devel"
	}
	return "devel-" + rev[:min(12, len(rev))] + dirty
}
