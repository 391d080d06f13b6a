package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/workload"
	"bakeoff/protocol/suite"
)

func listCommand(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list the subjects, workloads, experiments and formats that there are",
		Args:  cobra.NoArgs,
		RunE:  work(func(*cobra.Command, []string) error { return list(s.out) }),
	}
}

// list prints the lists themselves, so that it cannot name what does not exist.
func list(w io.Writer) error {
	var b strings.Builder
	section := func(title string) { fmt.Fprintf(&b, "%s\n", title) }
	entry := func(name, doc string) { fmt.Fprintf(&b, "  %-18s %s\n", name, doc) }

	section("Subjects (run --subjects, serve NAME)")
	for _, p := range suite.All {
		entry(p.Name, p.Doc)
	}
	section("\nWorkloads (run --workload)")
	for _, w := range workload.All {
		entry(w.Name, w.Doc)
	}
	section("\nExperiments (run EXPERIMENT)")
	for _, e := range plan.All() {
		entry(e.Name, e.Doc)
	}
	section("\nFormats (-o)")
	for _, f := range report.All {
		entry(f.Name, f.Doc)
	}
	section("\nOptions of one protocol (serve --option NAME=VALUE)")
	listed := map[string]bool{}
	for _, p := range suite.All {
		family, _, _ := strings.Cut(p.Name, "-")
		if listed[family] {
			continue
		}
		listed[family] = true
		for _, k := range p.Knobs {
			entry(family+" "+k.Name, fmt.Sprintf("%s (default %s)", k.Doc, orLibrary(k.Default)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orLibrary(value string) string {
	if value == "" {
		return "the library's"
	}
	return value
}
