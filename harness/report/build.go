package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"bakeoff/harness/result"
	"bakeoff/harness/stats"
	"bakeoff/internal/nearest"
	"bakeoff/internal/plural"
)

// Options are what a reader may choose.
type Options struct {
	// Baseline is the subject that the ratios refer to; empty means the one that the run was told, else the first that is ranked.
	Baseline string
	// RankFlagged ranks and compares rows that doubts take out of the ranking, too; never those of a subject with other answers.
	RankFlagged bool
	// Load is the calls a second for which Tables.Capacity is worked out; 0 for none. CorePrice is what one core costs an hour, in any currency; 0 is unknown.
	Load, CorePrice float64
}

// ChoiceError is what Build and Compare fail with when a file does not have what Options ask for: the asking is wrong, and not the file.
type ChoiceError struct{ Err error }

func (e *ChoiceError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong with the choice.
func (e *ChoiceError) Unwrap() error { return e.Err }

// Build makes the tables of a result file, which may have no trial yet or be cut short. A histogram that can't be read
// is an error that names file and line; a baseline that is not among the subjects is one that names those there are, and a ChoiceError
// if it was chosen by o.
func Build(file result.File, o Options) (Tables, error) {
	h := file.Header
	if err := checkPrecision(h); err != nil {
		return Tables{}, atHeader(file, err)
	}
	var again int
	if file.Trials, again = result.Standing(file.Trials); again > 0 {
		file.Warnings = append(slices.Clone(file.Warnings), result.Warning{Kind: "done_again",
			Text: fmt.Sprintf("%s failed and was done again: the file has why, and no figure here is of it", plural.Of(again, "trial"))})
	}
	t := Tables{
		Files:  filesOf(file),
		Schema: Schema, Experiment: h.Experiment, Version: h.Version, Started: h.Started, Command: h.Command, Seed: h.Seed, SeedText: strconv.FormatUint(h.Seed, 10),
		Planned: h.Planned, Present: present(file.Trials), Environment: h.Env, Settings: h.Settings,
		Subjects: append([]result.Subject{}, h.Subjects...), NotRanked: []NotRanked{}, Rows: []Row{}, Comparisons: []Comparison{},
		Warnings: append(append([]result.Warning{}, h.Warnings...), file.Warnings...), // slices.Concat makes null of nothing
	}
	if err := t.findRate(file); err != nil {
		return Tables{}, err
	}
	t.Interrupted = t.Present < t.Planned
	t.RankFlagged = o.RankFlagged
	t.look(h.Precision, file.Trials)
	for _, s := range h.Subjects {
		if !s.Conformant {
			t.NotRanked = append(t.NotRanked, NotRanked{s.Name, verdictKind(s), difference(s)})
		}
	}
	groups := grouped(file.Trials)
	t.order(groups)
	for _, g := range groups {
		rows, err := t.rows(g, file.Name)
		if err != nil {
			return Tables{}, err
		}
		t.Rows = append(t.Rows, rows...)
		t.Measured += len(g.ok)
		t.Rounds = max(t.Rounds, len(g.ok))
	}
	if err := t.chooseBaseline(cmp.Or(o.Baseline, h.Baseline)); err != nil {
		if o.Baseline != "" {
			return Tables{}, &ChoiceError{err}
		}
		return Tables{}, atHeader(file, err)
	}
	t.compare()
	t.lead()
	t.capacity(o)
	t.hops()
	t.Words = words(t)
	t.Words = append(t.Words, t.byConnections()...)
	t.Words = append(t.Words, t.byTLS()...)
	t.Words = append(t.Words, t.byCompression()...)
	t.Words = append(t.Words, t.orderWords()...)
	t.publish()
	return t, nil
}

// checkPrecision refuses a precision of no figure that a run can ask for.
func checkPrecision(h result.Header) error {
	if h.Precision == nil || metricOf(h.Precision.Figure).Better != Neither {
		return nil
	}
	var names []string
	for _, m := range Metrics {
		if m.Better != Neither {
			names = append(names, m.Name)
		}
	}
	return fmt.Errorf(`"precision.figure": %w`, nearest.Unknown("figure", h.Precision.Figure, names))
}

// atHeader is the error of a file whose header can't be right.
func atHeader(file result.File, err error) error {
	return fmt.Errorf("%s:1:1: %w", file.Name, file.Header.Refuse(err))
}

// look finds out which look at a run in progress this is: by the rounds that were begun, whatever became of them, and by how often the
// run was resumed, since its figures were seen by somebody each time before that.
func (t *Tables) look(p *result.Precision, trials []result.Trial) {
	if p == nil {
		return
	}
	begun, resumed := 0, 0
	for _, tr := range trials {
		begun, resumed = max(begun, tr.Round), max(resumed, tr.Resumed)
	}
	t.Precision, t.Look = p, stats.LookOf(p.First, begun)+resumed
}

// present counts the trials of the plan that the file has: one that was done again counts once.
func present(trials []result.Trial) int {
	seen := map[int]bool{}
	n := 0
	for _, t := range trials {
		if t.Order < 1 || !seen[t.Order] {
			n++
		}
		seen[t.Order] = true
	}
	return n
}

// order sorts rows by workload as the run was told, and mode as they appear, then by level and rate, then by subject as the run was told, then by connections.
func (t *Tables) order(groups []*group) {
	var loads []level
	place := map[string]int{}
	for i, s := range t.Subjects {
		place[s.Name] = i
	}
	for _, g := range groups {
		l := g.section()
		if !slices.Contains(loads, l) {
			loads = append(loads, l)
		}
		if _, ok := place[g.subject]; !ok {
			place[g.subject] = len(place)
		}
	}
	planned := plannedWorkloads(t.Settings)
	slices.SortStableFunc(loads, func(a, b level) int {
		return cmp.Compare(slices.Index(planned, a.workload), slices.Index(planned, b.workload))
	})
	load := func(g *group) int {
		return slices.Index(loads, g.section())
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(load(a), load(b)), cmp.Compare(a.concurrency, b.concurrency), cmp.Compare(firstRate(a.rate), firstRate(b.rate)), cmp.Compare(a.rate, b.rate),
			cmp.Compare(place[a.subject], place[b.subject]), cmp.Compare(a.conns, b.conns))
	})
}

// verdictKind says what keeps a subject that is not conformant out of the ranking.
func verdictKind(s result.Subject) string {
	if s.Unchecked != "" {
		return FlagNotChecked
	}
	return FlagNotConformant
}

func difference(s result.Subject) string {
	if s.Unchecked != "" {
		return "its answers could not be checked: " + firstLine(s.Unchecked)
	}
	if len(s.Differences) == 0 {
		return "its answers differ from those of the others"
	}
	d := firstLine(s.Differences[0])
	if n := len(s.Differences) - 1; n > 0 {
		d += fmt.Sprintf(" (and %d more)", n)
	}
	return d
}

// rows makes the row of a group and those of its steps.
func (t *Tables) rows(g *group, file string) ([]Row, error) {
	var rows []Row
	for _, step := range append([]string{""}, g.steps()...) {
		rs, err := g.rounds(file, step)
		if err != nil {
			return nil, err
		}
		r := Row{Subject: g.subject, Workload: g.workload, Step: step, Mode: g.mode, Store: g.store, Concurrency: g.concurrency, Rate: g.rate, Arrivals: g.arrivals, Conns: g.conns,
			Rounds: len(g.ok), Missing: len(g.failed), Ranked: true, Metrics: map[string]Value{}, Unknown: map[string]string{}, Flags: []Flag{}}
		if len(g.ok) > 0 {
			r.Messages = g.ok[0].Messages
			if n := g.turns(); n > 1 {
				r.Turns = n
			}
		}
		for _, rd := range rs {
			r.Calls = append(r.Calls, Observation{rd.trial.Round, rd.calls(step)})
		}
		if step == "" {
			r.Outcomes = outcomesOf(g.ok)
			if lost := outcomesOf(g.failed); lost.Started+lost.Dropped > 0 {
				r.Lost = lost
			}
			r.Timelines, r.Options = g.timelines(), g.effective()
			r.Firsts = g.firsts()
			r.Flags = append(r.Flags, t.verdict(g.subject)...)
			r.Flags = append(r.Flags, g.flags(rs, r.Outcomes)...)
			if text := g.fewerTurns(turnsAsked(t.Settings)); text != "" {
				r.Flags = append(r.Flags, Flag{Kind: FlagFewerTurns, Text: text})
			}
		}
		r.Seconds = g.seconds()
		if r.Latency, err = g.distribution(step); err != nil {
			return nil, fmt.Errorf("%s: latencies of %s, all rounds together: %w", file, g.subject, err)
		}
		ranked := !slices.ContainsFunc(t.NotRanked, func(n NotRanked) bool { return n.Subject == g.subject })
		r.Ranked = ranked
		r.judge(t.RankFlagged)
		if step != "" {
			r.Ranked, r.WholeLimited = rows[0].Ranked, rows[0].DriverLimited() // those of the whole
		}
		r.figures(rs, t.Look)
		rows = append(rows, r)
	}
	return rows, nil
}

// calls is how many succeeded: in the step, or at all.
func (r *round) calls(step string) float64 {
	if step == "" {
		return float64(r.trial.Outcomes.OK)
	}
	return float64(r.times[result.TimeResponse].Count)
}

// verdict is what the conformance gate said about a subject.
func (t *Tables) verdict(subject string) []Flag {
	for _, s := range t.Subjects {
		if s.Name != subject {
			continue
		}
		if s.Conformant {
			return nil
		}
		return []Flag{{Kind: verdictKind(s), Text: "not ranked: " + difference(s)}}
	}
	return []Flag{{Kind: FlagNotChecked, Text: "the file does not say whether its answers were checked"}}
}

// outcomesOf are the sums over trials.
func outcomesOf(trials []*result.Trial) *Outcomes {
	out := &Outcomes{Examples: examples(trials), Messages: messages(trials)}
	for _, t := range trials {
		o := t.Outcomes
		out.Started += o.Started
		out.OK += o.OK
		out.Failed += o.FailedTotal()
		out.CutOff += o.CutOff
		out.Dropped += o.Dropped
		for class, n := range o.Failed {
			if out.FailedByClass == nil {
				out.FailedByClass = map[string]uint64{}
			}
			out.FailedByClass[class] += n
		}
	}
	return out
}

// figures fills in what is known, and why the rest is not.
func (r *Row) figures(rs []*round, look int) {
	for _, m := range Metrics {
		if !m.isOf(r) {
			continue
		}
		var obs []Observation
		why := "no round has figures"
		if len(rs) > 0 {
			why = ""
		}
		for _, rd := range rs {
			v, unknown := m.of(rd)
			if unknown != "" {
				why = cmp.Or(why, unknown)
				continue
			}
			obs = append(obs, Observation{rd.trial.Round, v})
		}
		values := make([]float64, len(obs))
		for i, o := range obs {
			values[i] = o.Value
		}
		if m.hop && len(obs) == 0 {
			continue
		}
		s, ok := stats.MedianAt(values, look)
		if !ok || m.all && why != "" {
			r.Unknown[m.Name] = cmp.Or(why, notMeasured)
			r.tooFewSamples(m.Name, r.Unknown[m.Name])
			continue
		}
		if why != "" && r.Step == "" {
			r.Flags = append(r.Flags, Flag{Kind: FlagIncomplete, Rounds: len(rs) - len(obs),
				Text: fmt.Sprintf("%s is known in %d of %s only: %s", m.Name, len(obs), plural.Of(len(rs), "round"), why)})
		}
		v := Value{Unit: m.Unit, Median: s.Median, Low: s.Low, High: s.High, Rounds: s.N, Coverage: s.Coverage, TooFew: s.TooFew(), Observations: obs}
		if w, ok := s.HalfWidth(); ok {
			v.HalfWidth = w
		}
		r.Metrics[m.Name] = v
	}
}

// subjectNames are those of the header, and of the rows.
func (t *Tables) subjectNames() []string {
	var names []string
	for _, s := range t.Subjects {
		names = append(names, s.Name)
	}
	for _, r := range t.Rows {
		if !slices.Contains(names, r.Subject) {
			names = append(names, r.Subject)
		}
	}
	return names
}

// chooseBaseline takes the subject that was asked for, or the first ranked one with figures.
func (t *Tables) chooseBaseline(asked string) error {
	names := t.subjectNames()
	for _, name := range names {
		verdict := slices.IndexFunc(t.NotRanked, func(n NotRanked) bool { return n.Subject == name })
		ranked := verdict < 0
		measured := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Subject == name && r.Rounds > 0 })
		switch {
		case asked == "" && ranked && measured:
			t.Baseline = name
			return nil
		case asked == name && !ranked:
			t.Warnings = append(t.Warnings, result.Warning{Kind: t.NotRanked[verdict].Kind,
				Text: fmt.Sprintf("the baseline %s is not ranked, so there are no ratios: choose another", name)})
			return nil
		case asked == name:
			t.Baseline = name
			return nil
		}
	}
	if asked == "" {
		return nil
	}
	return nearest.Unknown("baseline", asked, names)
}
