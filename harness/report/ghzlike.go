package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

// GHZLike is the summary that users of ghz and hey know, for each row: counts, histogram, percentiles, statuses and errors, of all rounds together.
var GHZLike = Format{Name: "ghz-like", Doc: "as ghz and hey print it: summary, histogram and percentiles of each row", Write: writeGHZLike}

// ghzBar is the length of the longest bar of a histogram, as in ghz.
const ghzBar = 40

func writeGHZLike(w io.Writer, t Tables) error {
	var b strings.Builder
	reports := t.ghzReports()
	if len(reports) == 0 {
		fmt.Fprintln(&b, "There are no trials yet.")
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(&b)
		}
		r.summary(&b)
	}
	return writeAll(w, "ghz-like", b.String())
}

func (r ghzReport) summary(b *strings.Builder) {
	fmt.Fprintf(b, "Summary:\n")
	line := func(name, format string, args ...any) {
		fmt.Fprintf(b, "  %-14s%s\n", name+":", fmt.Sprintf(format, args...))
	}
	line("Name", "%s", clean(r.Name))
	line("Call", "%s", clean(r.Options.Call))
	if r.Tags["ranked"] != "true" {
		line("Ranked", "no: see -o table")
	}
	line("Rounds", "%s", r.Tags["rounds"])
	line("Count", "%d", r.Count)
	line("Total", "%s", ghzTime(r.Total))
	if len(r.Histogram) == 0 {
		line("Latency", "unknown: no call succeeded")
	} else {
		line("Slowest", "%s", ghzTime(r.Slowest))
		line("Fastest", "%s", ghzTime(r.Fastest))
		line("Average", "%s", ghzTime(r.Average))
		line("Requests/sec", "%.2f", r.RPS)
		fmt.Fprintf(b, "\nResponse time histogram (ms):\n")
		r.bars(b)
		fmt.Fprintf(b, "\nLatency distribution:\n")
		for _, p := range r.Distribution {
			fmt.Fprintf(b, "  %d %% in %s\n", p.Percentage, ghzTime(p.Latency))
		}
	}
	if len(r.Statuses) > 0 {
		fmt.Fprintf(b, "\nStatus code distribution:\n")
		for _, status := range mostFirst(r.Statuses) {
			fmt.Fprintf(b, "  %s   %d responses\n", text.Pad("["+clean(status)+"]", 12, ' '), r.Statuses[status])
		}
	}
	if len(r.Errors) > 0 {
		fmt.Fprintf(b, "\nError distribution:\n")
		for _, e := range mostFirst(r.Errors) {
			fmt.Fprintf(b, "  %-10s   %s\n", fmt.Sprintf("[%d]", r.Errors[e]), clean(e))
		}
	}
}

// mostFirst are the names by their counts, the most frequent first.
func mostFirst(counts map[string]uint64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
}

func (r ghzReport) bars(b *strings.Builder) {
	most, marks, counts := int64(1), 0, 0
	mark := func(k ghzBucket) string { return fmt.Sprintf("%.3f", 1000*k.Mark) }
	for _, k := range r.Histogram {
		most = max(most, k.Count)
		marks, counts = max(marks, len(mark(k))), max(counts, len(fmt.Sprint(k.Count)))
	}
	for _, k := range r.Histogram {
		length := int((float64(k.Count)*ghzBar)/float64(most) + 0.5)
		fmt.Fprintf(b, "%s\n", strings.TrimRight(fmt.Sprintf("  %-*s %-*s |%s", marks, mark(k), counts+2, fmt.Sprintf("[%d]", k.Count), strings.Repeat("#", length)), " "))
	}
}

// ghzTime prints a time as ghz does.
func ghzTime(d time.Duration) string {
	switch ms := float64(d) / 1e6; {
	case d < 10_000:
		return fmt.Sprintf("%d ns", d)
	case ms < 1000:
		return fmt.Sprintf("%.2f ms", ms)
	default:
		return fmt.Sprintf("%.2f s", ms/1000)
	}
}
