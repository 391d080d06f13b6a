package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"bakeoff/harness/result"
	"bakeoff/internal/plural"
)

// FindRate is what a run with --find-rate has found before it measured. Its trials stand in no row.
type FindRate struct {
	Objective string      `json:"objective"`
	Found     []FoundRate `json:"found"`
}

// FoundRate is the search of one subject at one level.
type FoundRate struct {
	Subject     string `json:"subject"`
	Workload    string `json:"workload"`
	Store       string `json:"store,omitempty"`
	Concurrency int    `json:"concurrency"`
	Arrivals    string `json:"arrivals,omitempty"`
	Conns       int    `json:"conns"`
	// Rate is the highest rate that held the objective, in calls a second, and Missed the lowest above it that did not: between them nothing is known. Each is
	// absent where there is none.
	Rate   uint64 `json:"rate,omitempty"`
	Missed uint64 `json:"missed,omitempty"`
	// End is why the search was over; empty while it is not: then the bracket is as far as it came.
	End string `json:"end,omitempty"`
	// Trials is how many it took, the closed loop's among them; Closed is the throughput there, in calls a second, absent where it is unknown.
	Trials int     `json:"trials"`
	Closed float64 `json:"closed_throughput,omitempty"`
	Looks  []Look  `json:"looks"`
	// Levels are the shares of the rate at which it was measured afterwards.
	Levels []FoundLevel `json:"levels,omitempty"`
	Flags  []Flag       `json:"flags"`
}

// Look is one trial at a rate.
type Look struct {
	Rate string `json:"rate"`
	Held bool   `json:"held"`
	Why  string `json:"why,omitempty"`
}

// FoundLevel is a share of a found rate. Of the rounds that were measured there so many held the objective: whether the search was right.
type FoundLevel struct {
	Share  string `json:"share"`
	Rate   uint64 `json:"rate"`
	Rounds int    `json:"rounds"`
	Held   int    `json:"held"`
}

// Kinds of the flags of a search.
const (
	FlagNoRate      = "no_rate"      // none was found
	FlagUnconfirmed = "unconfirmed"  // the bracket is not what a search ends with
	FlagNotRepeated = "not_repeated" // most rounds at a share of the rate that was found missed the objective
)

// findRate puts the trials of the searches together. Those of the plan for which no rate was found are not planned any more.
func (t *Tables) findRate(file result.File) error {
	h := file.Header.FindRate
	if h == nil {
		return nil
	}
	objective, err := ParseObjective(h.Objective)
	if err != nil {
		return fmt.Errorf("%s: the header's objective: %w", file.Name, err)
	}
	t.FindRate = &FindRate{Objective: h.Objective, Found: []FoundRate{}}
	place, workloads := map[string]int{}, map[string]int{}
	for i, s := range t.Subjects {
		place[s.Name] = i
	}
	type cell struct {
		workload, subject  string
		concurrency, conns int
	}
	searches := map[cell][]*result.Trial{}
	var order []cell
	for i := range file.Searches {
		tr := &file.Searches[i]
		c := cell{tr.Workload, tr.Subject, tr.Concurrency, tr.Conns}
		if _, ok := workloads[c.workload]; !ok {
			workloads[c.workload] = len(workloads)
		}
		if searches[c] == nil {
			order = append(order, c)
		}
		searches[c] = append(searches[c], tr)
	}
	slices.SortStableFunc(order, func(a, b cell) int {
		return cmp.Or(cmp.Compare(workloads[a.workload], workloads[b.workload]), cmp.Compare(a.concurrency, b.concurrency), cmp.Compare(place[a.subject], place[b.subject]), cmp.Compare(a.conns, b.conns))
	})
	for _, c := range order {
		f := found(searches[c], h.Shares)
		for i := range f.Levels {
			if err := f.Levels[i].count(objective, file.Trials, f); err != nil {
				return fmt.Errorf("%s: %w", file.Name, err)
			}
		}
		f.doubt(searches[c])
		if f.End != "" && len(f.Levels) == 0 {
			t.Planned -= h.Rounds * len(h.Shares)
		}
		t.FindRate.Found = append(t.FindRate.Found, f)
	}
	return nil
}

// found is what the trials of one search say, the last of them about all.
func found(trials []*result.Trial, shares []string) FoundRate {
	first := trials[0]
	f := FoundRate{Subject: first.Subject, Workload: first.Workload, Store: storeName(first.Store), Concurrency: first.Concurrency, Conns: first.Conns,
		Trials: len(trials), Looks: []Look{}, Flags: []Flag{}}
	for _, tr := range trials {
		if tr.Mode == result.ModeClosed && tr.Error == "" {
			f.Closed, f.Store = tr.Values[result.Throughput], storeName(tr.Store)
		}
		if tr.Rate != "" {
			f.Arrivals = tr.Arrivals
		}
		s := tr.Search
		if s == nil {
			continue
		}
		if s.Held != nil {
			f.Looks = append(f.Looks, Look{Rate: tr.Rate, Held: *s.Held, Why: s.Why})
		}
		f.Rate, f.Missed, f.End, f.Levels = s.HighestHeld, s.LowestMissed, s.End, nil
		for i, rate := range s.Rates {
			if i < len(shares) {
				f.Levels = append(f.Levels, FoundLevel{Share: shares[i], Rate: rate})
			}
		}
	}
	return f
}

// count finds out how many of the rounds at a level held the objective.
func (l *FoundLevel) count(o Objective, trials []result.Trial, f FoundRate) error {
	rate := strconv.FormatUint(l.Rate, 10)
	seen := map[int]bool{}
	for _, t := range trials {
		if t.Subject != f.Subject || t.Workload != f.Workload || t.Concurrency != f.Concurrency || t.Conns != f.Conns || t.Rate != rate || t.Error != "" || seen[t.Round] {
			continue
		}
		seen[t.Round] = true
		held, _, err := o.Judge(t)
		if err != nil {
			return err
		}
		l.Rounds++
		if held {
			l.Held++
		}
	}
	return nil
}

// doubt says what is to be known about a bracket.
func (f *FoundRate) doubt(trials []*result.Trial) {
	add := func(kind, format string, args ...any) {
		f.Flags = append(f.Flags, Flag{Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	last := trials[len(trials)-1]
	switch looks := plural.Of(len(f.Looks), "look"); {
	case last.Error != "" && f.End != "":
		add(FlagNoRate, "the search was given up after %s: %s", plural.Of(f.Trials, "trial"), firstLine(last.Error))
	case f.End == "":
		add(FlagUnconfirmed, "the search was interrupted after %s: the bracket is as far as it came", looks)
	case f.End == result.EndNone:
		add(FlagNoRate, "the objective was missed at %d/s already, the lowest rate at which a window has calls enough to judge it (%s)", f.Missed, f.lastMiss())
	case f.End == result.EndAll:
		add(FlagUnconfirmed, "the objective was held at %d/s, the highest rate that was tried: what is the limit is not known", f.Rate)
	case f.End == result.EndSpent && f.Rate == 0:
		add(FlagNoRate, "no rate held the objective in %s", looks)
	case f.End == result.EndSpent:
		add(FlagUnconfirmed, "after %s, which is the most, the bracket was not as narrow, or its ends not as sure, as they should be", looks)
	}
	limited, missed := 0, 0
	for _, t := range trials {
		if t.Search == nil || t.Search.Held == nil || *t.Search.Held {
			continue
		}
		missed++
		if slices.ContainsFunc(t.Warnings, func(w result.Warning) bool { return w.Kind == FlagDriverLimited }) {
			limited++
		}
	}
	if 2*limited > missed {
		add(FlagDriverLimited, "in %d of the %s that missed, the driver was near the end of its CPUs: the rate is what driver and subject can do together, and a lower bound for the subject",
			limited, plural.Of(missed, "look"))
	}
	for _, l := range f.Levels {
		if 2*l.Held >= l.Rounds {
			continue
		}
		why := "the machine was faster while the search went on, or is not quiet enough for this objective"
		if l.Rate == f.Rate {
			why = "it lies at the edge, or " + why
		}
		add(FlagNotRepeated, "of the rounds at %s of the rate that was found %d of %d held the objective: %s", l.Share, l.Held, l.Rounds, why)
		break // the levels above it say no more
	}
}

// lastMiss is why the last look missed.
func (f *FoundRate) lastMiss() string {
	for _, l := range slices.Backward(f.Looks) {
		if !l.Held {
			return l.Why
		}
	}
	return "-"
}

// NoRate names the searches that are over and found no rate, each with the reason.
func (t Tables) NoRate() []string {
	if t.FindRate == nil {
		return nil
	}
	var names []string
	for _, f := range t.FindRate.Found {
		if f.End == "" || len(f.Levels) > 0 {
			continue
		}
		why := f.End
		if len(f.Flags) > 0 {
			why = f.Flags[0].Text
		}
		names = append(names, t.FindRate.name(f)+": "+why)
	}
	return names
}

// name tells a search from the others, as rows are told apart.
func (r *FindRate) name(f FoundRate) string {
	var rows []Row
	several := false
	for _, o := range r.Found {
		if several = several || o.Workload != f.Workload; o.Workload == f.Workload {
			rows = append(rows, o.row())
		}
	}
	if several {
		return clean(f.Workload) + " " + rowName(rows, f.row())
	}
	return rowName(rows, f.row())
}

func (f FoundRate) row() Row {
	return Row{Subject: f.Subject, Concurrency: f.Concurrency, Conns: f.Conns}
}
