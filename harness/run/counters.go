package run

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"bakeoff/harness/control"
	"bakeoff/harness/plan"
	"bakeoff/harness/result"
)

// counters are what the processes that are called counted so far; nil for one that does not.
type counters struct{ server, backend, store map[string]int64 }

// counters asks them. Nothing is in flight.
func (f *family) counters(ctx context.Context) (c counters, err error) {
	if f.CountCalls && f.server != nil {
		if c.server, err = f.ask(ctx, f.server); err != nil {
			return c, err
		}
	}
	if f.CountCalls && f.backend != nil {
		if c.backend, err = f.ask(ctx, f.backend); err != nil {
			return c, err
		}
	}
	if err == nil && f.store != nil {
		c.store, err = f.ask(ctx, f.store)
	}
	return c, err
}

// of adds what remote meters told.
func (c *counters) of(rs remotes) {
	if rs.server != nil {
		c.server = rs.server.Counters
	}
	if rs.store != nil {
		c.store = rs.store.Counters
	}
}

func (f *family) ask(ctx context.Context, c *child) (map[string]int64, error) {
	if err := c.say(control.Line{Event: control.Counters}, f.Timeouts.Answer); err != nil {
		return nil, err
	}
	line, err := f.hear(ctx, c, waiting{event: control.Counters, timeout: f.Timeouts.Answer, when: always("when it was asked for its counters")})
	return line.Counters, err
}

// compareCalls writes down how many calls the server, or its backend, handled, and doubts the row when they are not those that were made.
// Calls that failed or were cut off may have reached it or not.
func (f *family) compareCalls(out *result.Trial, who, value string, before, after map[string]int64) {
	if !f.CountCalls || before == nil || after == nil {
		return
	}
	if out.Values == nil {
		out.Values = map[string]float64{}
	}
	n := after[control.Calls] - before[control.Calls]
	out.Values[value] = float64(n)
	if text := callsDiffer(who, n, out.Outcomes); text != "" {
		out.Warnings = append(out.Warnings, result.Warning{Kind: result.WarnServerCount, Text: text})
	}
}

// callsDiffer says in words where the count can't be that of the calls, or "".
func callsDiffer(who string, n int64, o result.Outcomes) string {
	if n >= int64(o.OK) && n <= int64(o.Started) {
		return ""
	}
	return fmt.Sprintf("%s handled %d calls, the driver started %d, of which %d succeeded", who, n, o.Started, o.OK)
}

// compareStore writes down how many operations the store counted, and doubts the row when they are not those that the
// calls ask for: then something is retried, cached or done twice, and the contestants did not do the same work. Calls
// that failed or were cut off may have asked or not, which leaves room between all ok calls and all that were started.
func (f *family) compareStore(out *result.Trial, t plan.Trial, before, after map[string]int64) {
	if before == nil || after == nil {
		return
	}
	if out.Values == nil {
		out.Values = map[string]float64{}
	}
	counted := make(map[string]float64, len(after))
	for kind, n := range after {
		if d := n - before[kind]; d != 0 {
			counted[kind] = float64(d)
			out.Values[result.StoreOps+kind] = float64(d)
		}
	}
	if f.Asks == nil {
		return
	}
	if asks := f.Asks(t); asks != nil {
		if text := storeDiffers(counted, asks, out.Outcomes); text != "" {
			out.Warnings = append(out.Warnings, result.Warning{Kind: result.WarnStoreCount, Text: text})
		}
	}
}

// storeDiffers says in words where the counts are not what the calls ask for, or "".
func storeDiffers(counted, asks map[string]float64, o result.Outcomes) string {
	kinds := map[string]bool{}
	for _, m := range []map[string]float64{counted, asks} {
		for kind := range m {
			kinds[kind] = true
		}
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		low, high := math.Floor(asks[kind]*float64(o.OK)), math.Ceil(asks[kind]*float64(o.Started))
		if n := counted[kind]; n < low || n > high {
			want := fmt.Sprintf("%.0f", low)
			if high > low {
				want += fmt.Sprintf(" to %.0f", high)
			}
			parts = append(parts, fmt.Sprintf("%.0f of kind %s where the calls ask for %s", n, kind, want))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "the store counted " + strings.Join(parts, ", ")
}
