package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/workload"
	"bakeoff/httpapi"
	"bakeoff/internal/nearest"
	"bakeoff/protocol/suite"
	"bakeoff/servers/gateway"
)

// lists are what can be listed, in the order in which all are.
var lists = []struct {
	name, title string
	entries     func(entry func(name, doc string))
}{
	{"subjects", "Subjects (run --subjects, serve NAME; NAME+tls in a run is NAME over TLS)", func(entry func(name, doc string)) {
		for _, p := range slices.Concat(suite.All, suite.Fronts, suite.PHP) {
			entry(p.Name, p.Doc)
		}
	}},
	{"workloads", "Workloads (run --workload)", func(entry func(name, doc string)) {
		for _, w := range workload.All {
			entry(w.Name, w.Doc)
		}
	}},
	{"experiments", "Experiments (run EXPERIMENT)", func(entry func(name, doc string)) {
		for _, e := range plan.All() {
			entry(e.Name, e.Doc)
			for _, v := range e.Variants {
				if !slices.Contains(e.Defaults.Subjects, v.Name) {
					entry("", "with --subjects "+v.Name+", too: "+v.Doc())
				}
			}
		}
	}},
	{"formats", "Formats (-o)", func(entry func(name, doc string)) {
		for _, f := range report.All {
			doc := f.Doc
			if f.Alias != "" {
				doc += " (also called " + f.Alias + ")"
			}
			entry(f.Name, doc)
		}
	}},
	{"options", "Options of one protocol (serve --option NAME=VALUE)", func(entry func(name, doc string)) {
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
		entry("front-NAME", "the options of http, of its own side; "+gateway.Prefix+"OPTION is one of NAME's, of both ends behind it, and:")
		for _, k := range gateway.HopKnobs {
			entry("front-NAME "+k.Name, k.Doc)
		}
		for _, p := range suite.PHP {
			for _, k := range p.Knobs {
				if name := p.Name + " " + k.Name; !listed[k.Name] && k.Name != httpapi.KnobKeep {
					listed[k.Name] = true
					entry(name, fmt.Sprintf("%s (default %s)", k.Doc, orLibrary(k.Default)))
				}
			}
		}
	}},
}

func listCommand(s *streams) *cobra.Command {
	var names []string
	for _, l := range lists {
		names = append(names, l.name)
	}
	return &cobra.Command{
		Use:       "list [" + strings.Join(names, "|") + "]",
		Short:     "list the subjects, workloads, experiments and formats that there are",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: names,
		RunE: work(func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && !slices.Contains(names, args[0]) {
				return usage(nearest.Unknown("list", args[0], names))
			}
			return list(s.out, args...)
		}),
	}
}

// list prints the lists themselves, so that it cannot name what does not exist: those that are named, or all.
func list(w io.Writer, only ...string) error {
	var b strings.Builder
	for _, l := range lists {
		if len(only) > 0 && !slices.Contains(only, l.name) {
			continue
		}
		if b.Len() > 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintf(&b, "%s\n", l.title)
		l.entries(func(name, doc string) { fmt.Fprintf(&b, "  %-18s %s\n", name, doc) })
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
