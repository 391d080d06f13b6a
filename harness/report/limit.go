package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bakeoff/harness/stats"
	"bakeoff/internal/nearest"
	"bakeoff/internal/plural"
)

// Limit is a change that is not to be: a metric's, in percent of its old value.
type Limit struct {
	Metric string
	Above  bool    // what lies above it is too much; else what lies below
	Share  float64 // of the old value: 0.05 is +5 %
	text   string
}

// String is the limit as it was written.
func (l Limit) String() string { return l.text }

// ParseLimit reads METRIC>+N% or METRIC<-N%: server_cpu_per_req>+5%. Blanks between the parts are fine. Its errors name the
// column, in bytes from 1, and what would be right there.
func ParseLimit(text string) (Limit, error) {
	l := Limit{text: text}
	at := 0
	bad := func(format string, args ...any) (Limit, error) {
		return Limit{}, fmt.Errorf("%q: column %d: %w", text, at+1, fmt.Errorf(format, args...))
	}
	blanks := func() {
		for at < len(text) && text[at] == ' ' {
			at++
		}
	}
	word := func(in string) string {
		from := at
		for at < len(text) && strings.IndexByte(in, text[at]) >= 0 {
			at++
		}
		return text[from:at]
	}
	const example = "server_cpu_per_req>+5%"

	blanks()
	start := at
	l.Metric = word("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
	if l.Metric == "" {
		return bad("want the name of a metric, as in %s (%s)", example, strings.Join(metricNames(), ", "))
	}
	after := at
	at = start
	if !slices.Contains(metricNames(), l.Metric) {
		return bad("%w", nearest.Unknown("metric", l.Metric, metricNames()))
	}
	at = after
	blanks()
	switch {
	case at < len(text) && text[at] == '>':
		l.Above = true
	case at < len(text) && text[at] == '<':
	default:
		return bad("want > or < after the metric, as in %s", example)
	}
	at++
	blanks()
	if at == len(text) || text[at] != '+' && text[at] != '-' {
		return bad("want + or -, for a limit is one of the change and not of the figure, as in %s", example)
	}
	from := at
	at++
	blanks()
	number := word("0123456789.")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		at -= len(number)
		return bad("want a number of percent, as in %s", example)
	}
	if text[from] == '-' {
		n = -n
	}
	blanks()
	if at == len(text) || text[at] != '%' {
		return bad("want %% behind the number: a limit is in percent of the old value")
	}
	at++
	blanks()
	if at < len(text) {
		return bad("want nothing behind the %%; give a second limit for a second condition")
	}
	if n <= -100 {
		at = from
		return bad("nothing can fall by 100%% or more")
	}
	l.Share = n / 100
	return l, nil
}

// The results of a check.
const (
	CheckPassed  = "passed"
	CheckFailed  = "failed"
	CheckUnknown = "unknown"
)

// Check is what a limit says of one row. It failed when the whole interval of the change lies beyond the limit, with a
// confidence that holds for all checks together; it is unknown when nothing can be said, which is not the same as passed. A limit that no row could
// be held to has one check, unknown, of no row.
type Check struct {
	RowKey
	Limit  string `json:"limit"`
	Metric string `json:"metric"`
	Result string `json:"result"`
	Text   string `json:"text"`
	// Shown says of a check that passed that the whole interval keeps the limit. Else the change may lie beyond it, unseen.
	Shown bool `json:"shown,omitempty"`
	// FailsFrom is about the change that four in five such runs would have failed for, as a share of the old value: 0.3 is +30 %. A smaller one is likely
	// to pass. Absent where it is unknown.
	FailsFrom *float64 `json:"fails_from,omitempty"`
}

// hold holds every row to every limit.
func (c *Changes) hold(limits []Limit) {
	checks := 0 // those that have an interval to be judged by
	for _, l := range limits {
		for _, ch := range c.Changes {
			if ch.Metric == l.Metric {
				checks++
			}
		}
	}
	for _, l := range limits {
		before := len(c.Checks)
		for i := range c.Changes {
			if ch := &c.Changes[i]; ch.Metric == l.Metric {
				c.Checks = append(c.Checks, l.check(ch, checks))
			}
		}
		for _, n := range c.Incomparable {
			if n.Metric == l.Metric || n.Metric == "" && n.Reason != "it is not in "+c.Old.File {
				c.Checks = append(c.Checks, Check{RowKey: n.RowKey, Limit: l.text, Metric: l.Metric, Result: CheckUnknown, Text: n.Reason})
			}
		}
		if len(c.Checks) == before {
			c.Checks = append(c.Checks, Check{Limit: l.text, Metric: l.Metric, Result: CheckUnknown, Text: "there is no row in " + c.Old.File + " that could be held to it"})
		}
	}
}

// check holds one change to the limit; family is how many checks there are.
func (l Limit) check(ch *Change, family int) Check {
	confidence := 1 - stats.Alpha/float64(family)
	low, high, coverage := ch.shift.Interval(confidence)
	k := Check{RowKey: ch.RowKey, Limit: l.text, Metric: l.Metric, Result: CheckPassed,
		Text: fmt.Sprintf("%s [%s, %s]", signed(ch.Ratio), signed(low), signed(high))}
	if coverage < confidence {
		k.Result = CheckUnknown
		k.Text = fmt.Sprintf("%s (%s, %s): %d and %s are too few for an interval of %s", signed(ch.Ratio), signed(low), signed(high),
			ch.shift.Base, plural.Of(ch.shift.Other, "round"), percentage(confidence, digits))
		return k
	}
	from := 1 + l.Share
	if effect, ok := ch.shift.SmallestEffect(family); ok && l.Above {
		from *= 1 + effect
	} else if ok {
		from /= 1 + effect
	}
	share := from - 1
	k.FailsFrom = &share
	switch k.Shown = l.kept(low, high); {
	case l.beyond(low, high):
		k.Result = CheckFailed
		k.Text += ": all of it lies beyond the limit"
	case k.Shown:
		k.Text += ": all of it keeps the limit"
	default:
		k.Text += fmt.Sprintf(", but it reaches beyond the limit: a change short of about %s could not have been seen to break it", signed(from))
	}
	return k
}

// kept says that no change of the interval breaks the limit.
func (l Limit) kept(low, high float64) bool {
	if l.Above {
		return high <= 1+l.Share
	}
	return low >= 1+l.Share
}

func (l Limit) beyond(low, high float64) bool {
	if l.Above {
		return low > 1+l.Share
	}
	return high < 1+l.Share
}

// Worst is failed if a check has failed, else unknown if one is, else passed.
func (c Changes) Worst() string {
	worst := CheckPassed
	for _, k := range c.Checks {
		if k.Result == CheckFailed {
			return CheckFailed
		}
		if k.Result == CheckUnknown {
			worst = CheckUnknown
		}
	}
	return worst
}
