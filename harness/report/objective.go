package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bakeoff/harness/result"
)

// Objective is what a trial in the open loop is to hold: one condition or several, all of them.
//
// A call that failed or was cut off counts as one that never came back: it lies beyond every percentile that reaches so far, and makes
// the mean and the maximum infinite. Else a server that turns calls away would look quick.
type Objective struct {
	text       string
	conditions []condition
}

// condition is one figure that is to lie below a limit.
type condition struct {
	name  string  // "p99", "mean", "max", "failed"
	q     float64 // of a percentile: 0.99
	limit float64 // seconds; of failed a share
}

// String is the objective as it was written.
func (o Objective) String() string { return o.text }

// objectiveExample is one that stands in every error.
const objectiveExample = "p99<5ms"

// ParseObjective reads conditions with commas between them: p99<5ms, p99.9<20ms, mean<1ms, max<1s (response times, from when a call was
// due) and failed<0.1%. Blanks between the parts are fine. Its errors name the column, in bytes from 1, and what may stand there.
func ParseObjective(text string) (Objective, error) {
	o := Objective{text: strings.TrimSpace(text)}
	p := objectiveParser{text: text}
	for {
		c, err := p.condition()
		if err != nil {
			return Objective{}, err
		}
		for _, other := range o.conditions {
			if other.name == c.name {
				return Objective{}, p.bad(p.began, "%s stands there twice: give each figure one limit", c.name)
			}
		}
		o.conditions = append(o.conditions, c)
		if p.at == len(p.text) {
			return o, nil
		}
		if p.text[p.at] != ',' {
			return Objective{}, p.bad(p.at, "want nothing more, or a comma and a further condition, as in %s,failed<0.1%%", objectiveExample)
		}
		p.at++
	}
}

// objectiveParser is how far a text is read.
type objectiveParser struct {
	text      string
	at, began int // bytes; began is where the condition begins
}

func (p *objectiveParser) bad(at int, format string, args ...any) error {
	return fmt.Errorf("%q: column %d: %w", p.text, at+1, fmt.Errorf(format, args...))
}

func (p *objectiveParser) blanks() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// word reads what is made of letters, digits and dots (and what else is meant to be a number).
func (p *objectiveParser) word() string {
	p.blanks()
	from := p.at
	for p.at < len(p.text) && !strings.ContainsRune(" <>=,%", rune(p.text[p.at])) {
		p.at++
	}
	word := p.text[from:p.at]
	p.blanks()
	return word
}

func (p *objectiveParser) condition() (condition, error) {
	p.blanks()
	p.began = p.at
	c := condition{name: p.word()}
	switch c.name {
	case "mean", "max", "failed":
	default:
		percent, err := strconv.ParseFloat(strings.TrimPrefix(c.name, "p"), 64)
		if !strings.HasPrefix(c.name, "p") || err != nil || !(percent >= 1 && percent <= 99.99) {
			return c, p.bad(p.began, "want a percentile from p1 to p99.99, mean, max or failed, as in %s", objectiveExample)
		}
		c.name, c.q = "p"+strconv.FormatFloat(percent, 'f', -1, 64), percent/100
	}
	if p.at == len(p.text) || p.text[p.at] != '<' {
		return c, p.bad(p.at, "want < after %s, as in %s", c.name, objectiveExample)
	}
	p.at++
	p.blanks()
	from := p.at
	number := p.word()
	if c.name == "failed" {
		share, err := strconv.ParseFloat(number, 64)
		if err != nil || !(share >= 0.0001 && share < 100) || p.at == len(p.text) || p.text[p.at] != '%' {
			return c, p.bad(from, "want a share from 0.0001%% to below 100%%, as in failed<0.1%%")
		}
		p.at++
		p.blanks()
		c.limit = share / 100
		return c, nil
	}
	d, err := time.ParseDuration(number)
	if err != nil || d <= 0 {
		return c, p.bad(from, "want a time above 0 with its unit, such as 5ms or 1.5s, as in %s<5ms", c.name)
	}
	c.limit = d.Seconds()
	return c, nil
}

// leastCalls is how many calls a mean or a maximum needs to say anything.
const leastCalls = 20

// Calls is how many calls a trial needs for the objective to be judged: ten beyond each percentile, as for the p99.9 of the tables, and so
// many that a single failed call is no larger share than may fail.
func (o Objective) Calls() float64 {
	least := float64(leastCalls)
	for _, c := range o.conditions {
		switch {
		case c.q > 0:
			least = max(least, math.Ceil(10/(1-c.q)-1e-6)) // 1-0.99 is a little above 0.01
		case c.name == "failed":
			least = max(least, math.Ceil(1/c.limit-1e-6))
		}
	}
	return least
}

// Judge says whether a trial in the open loop held the objective, and why: with the figures, or what spoilt them. A trial that dropped calls or did
// not keep its rate, by the limits that take a row out of the ranking, has missed every objective. An error is a histogram that can't
// be read.
func (o Objective) Judge(t result.Trial) (held bool, why string, err error) {
	if t.Error != "" {
		return false, firstLine(t.Error), nil
	}
	for _, kind := range []string{result.WarnDropped, result.WarnRateMissed} {
		if i := slices.IndexFunc(t.Warnings, func(w result.Warning) bool { return w.Kind == kind }); i >= 0 {
			evidence, _, _ := strings.Cut(t.Warnings[i].Text, ": ") // and no advice
			return false, evidence, nil
		}
	}
	calls := t.Outcomes.Started
	if n := o.Calls(); float64(calls) < n {
		return false, fmt.Sprintf("%d calls are too few to tell: %s needs %.0f", calls, o.text, n), nil
	}
	m, err := result.Merge(succeeded(&t, result.TimeResponse, "")...)
	if err != nil {
		return false, "", fmt.Errorf("trial of %s, round %d: %w", t.Subject, t.Round, err)
	}
	held = true
	var parts []string
	for _, c := range o.conditions {
		ok, text := c.judge(m, calls, t.Outcomes.FailedTotal()+t.Outcomes.CutOff)
		held = held && ok
		parts = append(parts, text)
	}
	return held, strings.Join(parts, ", "), nil
}

// judge holds one condition to the times of the calls that succeeded; lost is how many of all calls did not.
func (c condition) judge(m result.Merged, calls, lost uint64) (held bool, text string) {
	if c.name == "failed" {
		share := float64(lost) / float64(calls)
		return share < c.limit, "failed " + percentage(share, digits)
	}
	ns, known := m.Mean, lost == 0
	switch {
	case c.name == "max":
		ns = float64(m.Max)
	case c.q > 0:
		rank := c.q * float64(calls)
		known = rank <= float64(m.Count)
		v, _ := m.Quantile(rank / float64(m.Count))
		ns = float64(v)
	}
	if !known || m.Count == 0 {
		return false, fmt.Sprintf("%s is beyond all times: %d of %d calls failed or were cut off", c.name, lost, calls)
	}
	return ns/1e9 < c.limit, fmt.Sprintf("%s %s ms", c.name, digits(ns/1e6))
}
