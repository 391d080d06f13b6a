package report

import (
	"fmt"
	"slices"
	"strings"
)

// Claim is a conclusion that the authors of a published bake-off drew, as what can be measured of it here. It holds if every one of its
// ratios lies where the claim says.
type Claim struct {
	Experiment string
	Words      string // what they concluded
	Figure     string // what they measured, on their machine: to be read beside ours, never to be matched
	Ratios     []Ratio
	Step       string // that it is about, of a workload of several; empty is the whole
	// Low and High bound the ratios with which the claim holds.
	Low, High float64
}

// Ratio is one figure of one row to the same figure of another, paired within rounds.
type Ratio struct {
	Metric   string
	Name     string // of the metric, in a sentence
	Workload string
	Of, To   RowAt
}

// RowAt is a row of the closed loop, that of the claim's step. Concurrency 0 is each level that both rows of the ratio have.
type RowAt struct {
	Subject     string
	Concurrency int
}

func (s RowAt) String() string { return fmt.Sprintf("%s @ %d", s.Subject, s.Concurrency) }

// The verdicts on a claim.
const (
	Holds       = "holds"
	HoldsNot    = "does not hold"
	CantBeTold  = "can't be told"
	leastRounds = 6 // for an interval of 95 %
)

// Verdict is what this report says of a claim.
type Verdict struct {
	Claim   string `json:"claim"`
	Figure  string `json:"published"`
	Verdict string `json:"verdict"`
	// Low and High are the ratios with which it holds.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Ratios are those that were found, Missing says of the others why they were not.
	Ratios  []FoundRatio `json:"ratios"`
	Missing []string     `json:"missing,omitempty"`
	Text    string       `json:"text"`
}

// FoundRatio is what was measured of a claim, with the interval of this ratio alone.
type FoundRatio struct {
	Metric   string  `json:"metric"`
	Workload string  `json:"workload"`
	Of       string  `json:"of"`
	To       string  `json:"to"`
	Ratio    float64 `json:"ratio"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Rounds   int     `json:"rounds"`
	// Coverage is the true confidence of the interval: 0.95 or more, or less where the rounds are too few.
	Coverage float64 `json:"coverage"`

	verdict, name string
	tooFew        bool
}

// publish judges the published claims about the experiment.
func (t *Tables) publish() {
	for _, c := range Claims {
		if c.Experiment == t.Experiment && t.concerns(c) {
			t.Published = append(t.Published, t.judge(c))
		}
	}
	for _, v := range t.Published {
		t.Words = append(t.Words, v.Text)
	}
}

// concerns says whether the run was about what the claim is about: all its subjects, and one of its workloads, in the closed loop.
func (t *Tables) concerns(c Claim) bool {
	return slices.ContainsFunc(c.Ratios, func(r Ratio) bool {
		return slices.ContainsFunc(t.Rows, func(row Row) bool { return row.Workload == r.Workload && row.closedAt(c.Step) })
	}) && !slices.ContainsFunc(c.Ratios, func(r Ratio) bool {
		has := func(s RowAt) bool {
			return slices.ContainsFunc(t.Rows, func(row Row) bool { return row.Subject == s.Subject })
		}
		return !has(r.Of) || !has(r.To)
	})
}

// closedAt says whether the row is of the closed loop, in which throughput is found and not given, and of this step.
func (r Row) closedAt(step string) bool { return r.Mode == "closed" && r.Step == step }

// closed is closedAt of the whole.
func (r Row) closed() bool { return r.closedAt("") }

// judge measures a claim by the rows of the report.
func (t *Tables) judge(c Claim) Verdict {
	v := Verdict{Claim: c.Words, Figure: c.Figure, Low: c.Low, High: c.High, Ratios: []FoundRatio{}}
	for _, r := range c.Ratios {
		for _, pair := range t.sides(r, c.Step) {
			found, why := t.ratio(r, pair[0], pair[1], c.Step)
			if why != "" {
				v.Missing = append(v.Missing, why)
				continue
			}
			switch {
			case found.tooFew:
				found.verdict = CantBeTold
			case found.Low >= c.Low && found.High <= c.High:
				found.verdict = Holds
			case found.High < c.Low || found.Low > c.High:
				found.verdict = HoldsNot
			default:
				found.verdict = CantBeTold
			}
			v.Ratios = append(v.Ratios, found)
		}
	}
	has := func(verdict string) bool {
		return slices.ContainsFunc(v.Ratios, func(f FoundRatio) bool { return f.verdict == verdict })
	}
	switch {
	case has(HoldsNot):
		v.Verdict = HoldsNot
	case has(CantBeTold) || len(v.Missing) > 0:
		v.Verdict = CantBeTold
	default:
		v.Verdict = Holds
	}
	v.Text = v.sentence()
	return v
}

// sides are the pairs of rows that a ratio is about: at the levels that it names, or at each level that there is.
func (t *Tables) sides(r Ratio, step string) [][2]RowAt {
	if r.Of.Concurrency > 0 {
		return [][2]RowAt{{r.Of, r.To}}
	}
	var pairs [][2]RowAt
	for _, row := range t.Rows {
		pair := [2]RowAt{{r.Of.Subject, row.Concurrency}, {r.To.Subject, row.Concurrency}}
		if row.closedAt(step) && row.Workload == r.Workload && !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// ratio compares two rows, or says why that can't be done.
func (t *Tables) ratio(r Ratio, of, to RowAt, step string) (f FoundRatio, why string) {
	a, why := t.rowOf(of, r.Workload, step)
	if why != "" {
		return f, why
	}
	b, why := t.rowOf(to, r.Workload, step)
	if why != "" {
		return f, why
	}
	for _, row := range []*Row{a, b} {
		if t.unrankedFigure(r.Metric, *row) {
			return f, fmt.Sprintf("the %s of %s @ %d is the driver's", r.Name, row.Subject, row.Concurrency)
		}
	}
	m := metricOf(r.Metric)
	c, _, ok := compareRows(*b, *a, m, t.Look)
	if !ok {
		return f, fmt.Sprintf("%s of %s and %s is not known in the same rounds", r.Name, of, to)
	}
	return FoundRatio{Metric: r.Metric, Workload: r.Workload, Of: of.String(), To: to.String(), Ratio: c.Ratio, Low: c.Low, High: c.High, Rounds: c.Rounds,
		Coverage: c.Coverage, name: r.Name, tooFew: c.TooFew}, ""
}

// rowOf finds the one row of a side.
func (t *Tables) rowOf(s RowAt, workload, step string) (*Row, string) {
	var found []*Row
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Subject == s.Subject && r.Concurrency == s.Concurrency && r.Workload == workload && r.closedAt(step) {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Sprintf("%s with the workload %s is not measured", s, workload)
	case len(found) > 1:
		return nil, fmt.Sprintf("%s with the workload %s is measured more than once, in other ways", s, workload)
	case !found[0].Ranked:
		return nil, fmt.Sprintf("%s is not ranked", s)
	}
	return found[0], ""
}

// sentence tells the verdict, with our figures and theirs.
func (v Verdict) sentence() string {
	var parts []string
	last := FoundRatio{}
	for _, f := range v.Ratios {
		what := f.Of + " to " + f.To
		if f.Workload != last.Workload && slices.ContainsFunc(v.Ratios, func(o FoundRatio) bool { return o.Workload != f.Workload }) {
			what = "with " + f.Workload + ", " + what
		}
		if f.name != last.name {
			what = f.name + ": " + what
		}
		text := what + " " + signed(f.Ratio)
		if !f.tooFew {
			text += fmt.Sprintf(" [%s to %s]", signed(f.Low), signed(f.High))
		}
		if f.verdict != v.Verdict {
			text += " (" + f.verdict + ")"
		}
		parts = append(parts, text)
		last = f
	}
	if slices.ContainsFunc(v.Ratios, func(f FoundRatio) bool { return f.tooFew }) {
		parts = append(parts, fmt.Sprintf("without %d rounds there is no interval", leastRounds))
	}
	verdict := v.Verdict
	if v.Verdict == HoldsNot && v.sameDirection() {
		verdict += ", though its direction does"
	}
	return fmt.Sprintf("Published: %s (%s). Here that %s: %s. It counts as holding from %s to %s.", v.Claim, v.Figure, verdict,
		strings.Join(slices.Concat(parts, v.Missing), "; "), signed(v.Low), signed(v.High))
}

// sameDirection says that the claim is of more, or of less, and that every ratio is seen to be so.
func (v Verdict) sameDirection() bool {
	return len(v.Missing) == 0 && !slices.ContainsFunc(v.Ratios, func(f FoundRatio) bool {
		return f.tooFew || !(v.Low > 1 && f.Low > 1 || v.High < 1 && f.High < 1)
	})
}
