package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bakeoff/internal/plural"
)

// headLines say what was run, where and when.
func headLines(t Tables) []string {
	var lines []string
	line := func(parts ...string) {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		if len(parts) > 0 {
			lines = append(lines, clean(strings.Join(parts, ", ")))
		}
	}
	var stores []string
	for _, r := range t.Rows {
		if r.Store != "" && !slices.Contains(stores, r.Store) {
			stores = append(stores, r.Store)
		}
	}
	prefixed := func(prefix, s string) string {
		if s == "" {
			return ""
		}
		return prefix + s
	}
	started := ""
	if !t.Started.IsZero() {
		started = t.Started.UTC().Format(time.DateTime) + " UTC"
	}
	line(prefixed("store ", strings.Join(stores, " and ")), plural.Of(t.Rounds, "round"), inTurns(t.Rows), fmt.Sprintf("seed %d", t.Seed), prefixed("baseline ", t.Baseline), started)
	e := t.Environment
	cpus, procs := "", ""
	if e.CPUs > 0 {
		cpus = plural.Of(e.CPUs, "CPU")
	}
	if e.GOMAXPROCS > 0 {
		procs = "GOMAXPROCS " + strconv.Itoa(e.GOMAXPROCS)
	}
	line(e.CPUModel, cpus, strings.TrimSpace(e.OS+" "+e.Kernel), e.Arch, e.Go, procs)
	if t.Interrupted {
		lines = append(lines, fmt.Sprintf("%d of %s: the run was interrupted, or is not over yet", t.Present, plural.Of(t.Planned, "trial")))
	}
	if n := t.Present - t.Measured; n > 0 {
		lines = append(lines, fmt.Sprintf("%s without figures", plural.Of(n, "trial")))
	}
	return lines
}
