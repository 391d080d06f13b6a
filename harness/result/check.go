package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds on what a line may say. No run comes near them, and within them every sum, product and ratio that a report makes stays a number that can
// be printed.
const (
	maxNumber  = 1e15  // calls, bytes, operations
	maxSeconds = 1e9   // 31 years
	minSeconds = 1e-9  // one tick of the clock
	minNumber  = 1e-18 // above 0: a tick, over as many calls as one trial makes
	maxNs      = maxSeconds * 1e9
	maxLevel   = 1_000_000_000
	maxRounds  = 1_000_000
	maxParts   = 1_000 // turns of a window
	maxCPUs    = 1_000_000
)

// The years in which a run can have begun; a machine without a clock begins in the first.
const firstYear, lastYear = 1970, 2200

// checks holds fields to their bounds, and keeps the first that is not within them.
type checks struct{ err error }

func (c *checks) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// within holds a field to low..high, both included.
func within[N int | int64 | uint64 | float64](c *checks, field string, v, low, high N) {
	if !(v >= low && v <= high) { // NaN, too
		c.fail("%q is %v: want %s to %s", field, v, short(low), short(high))
	}
}

// short writes a bound as one would say it: 1e15 and not its digits.
func short[N int | int64 | uint64 | float64](v N) string {
	return exponent.Replace(strconv.FormatFloat(float64(v), 'g', -1, 64))
}

var exponent = strings.NewReplacer("e+0", "e", "e+", "e", "e-0", "e-")

// seconds holds a time to its bounds; 0 is one that was not measured.
func (c *checks) seconds(field string, v float64) {
	if v != 0 && !(v >= minSeconds && v <= maxSeconds) {
		c.fail("%q is %v s: want %s to %s s", field, v, short(minSeconds), short(maxSeconds))
	}
}

func (c *checks) moment(field string, t time.Time) {
	if y := t.UTC().Year(); !t.IsZero() && (y < firstYear || y > lastYear) {
		c.fail("%q is %s: want a time from %d to %d", field, t.UTC().Format(time.RFC3339), firstYear, lastYear)
	}
}

func (c *checks) oneOf(field, v string, known ...string) {
	if !slices.Contains(known, v) {
		quoted := make([]string, len(known))
		for i, k := range known {
			quoted[i] = strconv.Quote(k)
		}
		c.fail("%q is %q: want %s", field, v, strings.Join(quoted, " or "))
	}
}

// check refuses a header that no run can have written.
func (h Header) check() error {
	var c checks
	within(&c, "planned", h.Planned, 1, maxLevel)
	c.moment("started", h.Started)
	if p := h.Precision; p != nil {
		if !(p.Target >= minSeconds && p.Target < 1) {
			c.fail(`"precision.target" is %v: want a share above 0 and below 1`, p.Target)
		}
		within(&c, "precision.first", p.First, 1, maxRounds)
	}
	if f := h.FindRate; f != nil {
		within(&c, "find_rate.rounds", f.Rounds, 0, maxRounds)
	}
	var names []string
	for _, s := range h.Subjects {
		switch {
		case s.Name == "":
			c.fail(`"subjects" has one without a "name": want one in each`)
		case slices.Contains(names, s.Name):
			c.fail(`"subjects" has %q twice: want each once`, s.Name)
		}
		names = append(names, s.Name)
		if t := s.Target; t != nil {
			within(&c, "subjects.target.cpus", t.CPUs, 0, maxCPUs)
			within(&c, "subjects.target.gomaxprocs", t.GOMAXPROCS, 0, maxCPUs)
		}
	}
	within(&c, "environment.cpus", h.Env.CPUs, 0, maxCPUs)
	within(&c, "environment.gomaxprocs", h.Env.GOMAXPROCS, 0, maxCPUs)
	within(&c, "environment.cpu_quota", h.Env.CPUQuota, 0, maxCPUs)
	within(&c, "environment.mem_bytes", h.Env.MemBytes, 0, 1e18)
	if c.err != nil {
		return h.Refuse(c.err)
	}
	return nil
}

// check refuses a trial that can't be put into a row, or that no run can have written.
func (t Trial) check() error {
	var c checks
	if t.Round < 1 {
		c.fail(`"round" is %d: rounds count from 1`, t.Round)
	}
	within(&c, "round", t.Round, 1, maxRounds)
	within(&c, "concurrency", t.Concurrency, 0, maxLevel)
	within(&c, "conns", t.Conns, 0, maxLevel)
	within(&c, "order", t.Order, 0, maxLevel)
	within(&c, "resumed", t.Resumed, 0, maxRounds)
	within(&c, "turns", t.Turns, 0, maxParts)
	if t.TurnsMade != nil {
		within(&c, "turns_made", *t.TurnsMade, 0, max(1, t.Turns))
	}
	c.load(t)
	c.moment("started", t.Started)
	c.seconds("window", t.Window)
	c.seconds("elapsed", t.Elapsed)
	c.outcomes(t)
	c.values(t.Values)
	for _, h := range t.Histograms {
		if c.err == nil {
			c.err = h.check()
		}
	}
	c.course(t)
	if c.err != nil {
		return t.Refuse(c.err)
	}
	return nil
}

// load checks what the trial was to do.
func (c *checks) load(t Trial) {
	if t.Mode != "" { // as in a trial that failed before it was known
		c.oneOf("mode", t.Mode, ModeClosed, ModeOpen)
	}
	switch {
	case t.Rate == "" || c.err != nil:
	case t.Mode == ModeClosed:
		c.fail(`"rate" is %q beside the "mode" %q: want none in the closed loop`, t.Rate, t.Mode)
	case !isRate(t.Rate):
		c.fail(`"rate" is %.60q: want calls a second as in "500", "500..2000" or "500/1000", each from 1 to %s`, t.Rate, short(maxLevel))
	}
	least := 0
	if t.Error == "" && t.Outcomes.OK > 0 {
		least = 1
	}
	within(c, "messages", t.Messages, least, maxLevel)
}

// isRate knows the forms of rates: one, from one to another, and several in turn.
func isRate(text string) bool {
	parts := strings.Split(text, "/")
	if from, to, ok := strings.Cut(text, ".."); ok {
		parts = []string{from, to}
	}
	return !slices.ContainsFunc(parts, func(p string) bool {
		n, err := strconv.ParseUint(p, 10, 64)
		return err != nil || n < 1 || n > maxLevel
	})
}

func (c *checks) outcomes(t Trial) {
	o := t.Outcomes
	within(c, "outcomes.started", o.Started, 0, maxNumber)
	within(c, "outcomes.ok", o.OK, 0, maxNumber)
	within(c, "outcomes.cut_off", o.CutOff, 0, maxNumber)
	within(c, "outcomes.dropped", o.Dropped, 0, maxNumber)
	failed := 0.0
	for _, class := range slices.Sorted(maps.Keys(o.Failed)) {
		within(c, "outcomes.failed."+class, o.Failed[class], 0, maxNumber)
		failed += float64(o.Failed[class])
	}
	within(c, "outcomes.failed", failed, 0, maxNumber)
	for _, e := range t.Examples {
		within(c, "examples.count", e.Count, 0, maxNumber)
	}
}

// counted are the values that are differences of what another process counts: one that began anew in between makes them negative.
func counted(name string) bool {
	return strings.HasPrefix(name, StoreOps) || name == ServerCalls || name == BackendCalls
}

// inSeconds are the values that are times.
func inSeconds(name string) bool {
	return strings.Contains(name, "_cpu") || strings.HasPrefix(name, "lateness_")
}

func (c *checks) values(values map[string]float64) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v, low, high := values[name], 0.0, float64(maxNumber)
		switch {
		case counted(name):
			low = -maxNumber
		case inSeconds(name):
			high = maxSeconds
		}
		within(c, "values."+name, v, low, high)
		if v > 0 && v < minNumber {
			c.fail("%q is %v: want 0, or %s and more", "values."+name, v, short(minNumber))
		}
	}
}

// course checks what the course of a trial is drawn of.
func (c *checks) course(t Trial) {
	for _, s := range t.Slices {
		within(c, "slices.ok", s.OK, 0, maxNumber)
		within(c, "slices.mean_ns", s.Mean, 0, maxNs)
		for _, role := range slices.Sorted(maps.Keys(s.CPU)) {
			within(c, "slices.cpu."+role, s.CPU[role], 0, maxSeconds)
		}
	}
	for _, it := range t.Firsts {
		within(c, "first_iterations.n", it.N, 1, maxLevel)
		for _, ns := range it.Steps {
			within(c, "first_iterations.steps_ns", ns, 0, maxNs)
		}
	}
	if s := t.Search; s != nil {
		within(c, "search.highest_held", s.HighestHeld, 0, maxLevel)
		within(c, "search.lowest_missed", s.LowestMissed, 0, maxLevel)
		for _, r := range s.Rates {
			within(c, "search.rates", r, 1, maxLevel)
		}
		if s.End != "" {
			c.oneOf("search.end", s.End, EndFound, EndNone, EndAll, EndSpent, EndFailed)
		}
	}
}

// check refuses what no times of calls can be. Whether the data say the same is for Decode to see.
func (h Histogram) check() error {
	var c checks
	c.oneOf("time", h.Time, TimeResponse, TimeService)
	within(&c, "count", h.Count, 0, maxNumber)
	within(&c, "min_ns", h.Min, 0, maxNs)
	within(&c, "mean_ns", h.Mean, 0, maxNs)
	within(&c, "max_ns", h.Max, 0, maxNs)
	if c.err != nil {
		return h.wrong(c.err)
	}
	return nil
}

// checkSubject refuses a trial whose subject the run did not have: nothing is known of what it is, nor whether its answers are right.
func (h Header) checkSubject(t Trial) error {
	if t.Subject == "" {
		return t.Refuse(errors.New(`it has no "subject"`))
	}
	if slices.ContainsFunc(h.Subjects, func(s Subject) bool { return s.Name == t.Subject }) {
		return nil
	}
	var names []string
	for _, s := range h.Subjects {
		names = append(names, s.Name)
	}
	has := "has none"
	if len(names) > 0 {
		has = "has " + strings.Join(names, ", ")
	}
	return fmt.Errorf("%s, which is not among the header's subjects (it %s): the line is of another run, or the header was changed: "+
		"remove the line, or put the subject back into \"subjects\" of the first line", t.called(), has)
}

// parts are of what a trial without an error has had in every schema: in the trial itself they look like zero where they are absent.
type parts struct {
	Window   json.RawMessage `json:"window"`
	Outcomes json.RawMessage `json:"outcomes"`
}

// check refuses a trial whose figures would be zeros that nobody measured. One that failed owes none, one in which no call ended need
// not have values, and one in which none succeeded has no times that figures are made of.
func (p parts) check(t Trial) error {
	if t.Error != "" {
		return nil
	}
	missing := func(what string) error {
		return fmt.Errorf(`%s, without %s, and without an "error" that says why: %s`, t.called(), what, mendTrial)
	}
	absent := func(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
	switch {
	case absent(p.Window):
		return missing(`a "window"`)
	case t.Window == 0:
		return t.Refuse(errors.New(`"window" is 0 s: must be above 0`))
	case absent(p.Outcomes):
		return missing(`"outcomes"`)
	}
	var counts map[string]json.RawMessage
	if err := json.Unmarshal(p.Outcomes, &counts); err != nil {
		return err // it was read as Outcomes before: it can't happen
	}
	for _, name := range []string{"started", "ok", "cut_off", "dropped"} {
		if absent(counts[name]) {
			return missing(fmt.Sprintf("the outcome %q", name))
		}
	}
	o := t.Outcomes
	switch sum := o.OK + o.FailedTotal() + o.CutOff; {
	case o.Started != sum:
		return t.Refuse(fmt.Errorf(`"outcomes" has %d that were started, and %d that succeeded, failed or were cut off: want as many`, o.Started, sum))
	case o.OK+o.FailedTotal() > 0 && len(t.Values) == 0:
		return missing(`"values"`)
	case o.OK > 0 && len(t.Histograms) == 0:
		return missing(fmt.Sprintf(`"histograms" of the %d calls that succeeded`, o.OK))
	}
	return nil
}
