// Package report turns a result file into tables, and tables into formats, one file each. Tables is all that a format,
// a page or a program needs: figures in base units with the doubt beside each, scaled only when they are printed. The package
// knows nothing of processes, protocols or load; whatever wrote the file may be long gone.
package report

import (
	"encoding/json"
	"time"

	"bakeoff/harness/result"
)

// Schema is the version of the JSON form of Tables. It grows when a name or a meaning changes; new names may be added
// without it.
const Schema = 1

// Tables is a report. It is plain data: build it once, read it from anywhere. Everything in it is in a fixed order and
// every number is finite.
type Tables struct {
	Schema int `json:"schema"`
	// Files are the result files behind the report; more than one where they are shards of one plan, none where it was made of what is in memory.
	Files      []string  `json:"files,omitempty"`
	Experiment string    `json:"experiment"`
	Version    string    `json:"version,omitempty"` // of the bakeoff that wrote the results
	Started    time.Time `json:"started,omitzero"`
	Command    []string  `json:"command,omitempty"`
	Seed       uint64    `json:"seed"`
	SeedText   string    `json:"seed_text"` // Seed: a number above 2^53 loses digits in many a reader of JSON
	// Baseline is the subject that the ratios refer to; empty where there is nothing to compare.
	Baseline string `json:"baseline,omitempty"`
	// Precision is what the run went on for, absent where its rounds were fixed. Look counts how often its figures were looked at by
	// now, from 1; all intervals and Detected have the level of that look (see stats.LookAlpha). 0: once, with 95 %.
	Precision *result.Precision `json:"precision,omitempty"`
	Look      int               `json:"look,omitempty"`
	// FindRate is what a search found before the rounds; absent in a run without one.
	FindRate *FindRate `json:"find_rate,omitempty"`
	// Rounds is the largest number of rounds that a row has. Trials were planned, are in the file, and gave figures.
	Rounds   int `json:"rounds"`
	Planned  int `json:"planned_trials"`
	Present  int `json:"trials"`
	Measured int `json:"measured_trials"`
	// Interrupted says that trials of the plan are missing: the run was stopped, or is going on.
	Interrupted bool `json:"interrupted"`
	// RankFlagged says that rows are ranked in spite of flags that take them out.
	RankFlagged bool               `json:"rank_flagged,omitempty"`
	Environment result.Environment `json:"environment"`
	Settings    json.RawMessage    `json:"settings,omitempty"`
	Subjects    []result.Subject   `json:"subjects"`
	// NotRanked lists the subjects whose answers differ from what was asked of all, or could not be checked. Their rows stand with Ranked false.
	NotRanked   []NotRanked  `json:"not_ranked"`
	Rows        []Row        `json:"rows"`
	Comparisons []Comparison `json:"comparisons"`
	// Hops are the fronts beside the servers that answer by themselves; absent where there is none.
	Hops []Hop `json:"hops,omitempty"`
	// Compressed are the subjects that compress beside the same without; absent where there is none.
	Compressed []Comparison `json:"compressed,omitempty"`
	// Capacity is what a load that the reader named would need; absent where none was named.
	Capacity *Capacity        `json:"capacity,omitempty"`
	Warnings []result.Warning `json:"warnings"`
	// Published has what this report says of the conclusions that were published about the experiment.
	Published []Verdict `json:"published,omitempty"`
	// Words are the findings in sentences.
	Words []string `json:"words"`
	// Links are what leads to each of Files from where the report will lie, "" if nothing does; nil: their names do.
	Links map[string]string `json:"-"`
}

// Linked is the report with Links.
func (t Tables) Linked(link func(file string) string) Tables {
	t.Links = map[string]string{}
	for _, f := range t.Files {
		t.Links[f] = link(f)
	}
	return t
}

func (t Tables) linkTo(file string) string {
	if t.Links == nil {
		return file
	}
	return t.Links[file]
}

// NotRanked is a subject without a place, and why.
type NotRanked struct {
	Subject string `json:"subject"`
	Kind    string `json:"kind"` // FlagNotConformant or FlagNotChecked
	Reason  string `json:"reason"`
}

// Row is one subject at one level: all rounds of it. Workloads of several steps have a row for the whole (Step is
// empty), and one for each step that has latencies only, for nothing else is measured by step.
type Row struct {
	Subject     string `json:"subject"`
	Workload    string `json:"workload"`
	Step        string `json:"step,omitempty"`
	Mode        string `json:"mode"`
	Store       string `json:"store,omitempty"`
	Concurrency int    `json:"concurrency"`
	// Rate is the calls a second of the open loop, Arrivals how they follow one another; both are empty in the closed loop.
	Rate     string `json:"rate,omitempty"`
	Arrivals string `json:"arrivals,omitempty"`
	Conns    int    `json:"conns"`              // 0 is unknown
	Messages int    `json:"messages,omitempty"` // that one call carries; 0 is unknown
	Rounds   int    `json:"rounds"`             // with figures
	Missing  int    `json:"missing_rounds"`     // without: the trial failed
	// Turns is in how many parts each window was measured, in turns with other subjects, the least of the rounds; absent where it was one piece.
	Turns int `json:"turns,omitempty"`
	// Ranked rows are compared: those of a subject that gives the agreed answers, without a flag that Unranks them.
	Ranked bool `json:"ranked"`
	// Outcomes are summed over the rounds with figures; absent in the row of a step.
	Outcomes *Outcomes `json:"outcomes,omitempty"`
	// Lost are the outcomes of the rounds without figures, as far as those came: they are in no figure. Absent where none is known, and in the row of a step.
	Lost *Outcomes `json:"lost_outcomes,omitempty"`
	// Metrics holds the figures that are known, by the names in Metrics.
	Metrics map[string]Value `json:"metrics"`
	// Unknown says why a figure is not in Metrics.
	Unknown map[string]string `json:"unknown,omitempty"`
	// Leads says by figure that the row is the best of its level, or is not told apart from the best: LeadBest, LeadTied.
	Leads map[string]string `json:"leads,omitempty"`
	// Seconds are the windows of the rounds, added up; absent where they are unknown.
	Seconds float64 `json:"seconds,omitempty"`
	// Latency is all calls that succeeded, of all rounds together; absent where none did.
	Latency *Distribution `json:"latency,omitempty"`
	Flags   []Flag        `json:"flags"`
	// Calls is how many calls succeeded in each round with figures.
	Calls []Observation `json:"-"`
	// Timelines are what happened within each round, and Options what both ends were told: absent in the row of a step, and where they are unknown.
	Timelines []Timeline      `json:"-"`
	Options   json.RawMessage `json:"-"`
	// Firsts are the first iterations; nil in the row of a step, and where there are none.
	Firsts *FirstIterations `json:"-"`
	// WholeLimited says in the row of a step that the whole is DriverLimited.
	WholeLimited bool `json:"-"`
}

// Outcomes partition the calls that were started: Started = OK + Failed + CutOff. Dropped calls were due and never started.
type Outcomes struct {
	Started       uint64            `json:"started"`
	OK            uint64            `json:"ok"`
	Failed        uint64            `json:"failed"`
	CutOff        uint64            `json:"cut_off"`
	Dropped       uint64            `json:"dropped"`
	FailedByClass map[string]uint64 `json:"failed_by_class,omitempty"`
	// Examples has one message out of each class of failures that has any.
	Examples []result.Example `json:"examples,omitempty"`
	// Messages are those of the failures, the most frequent first, as far as trials keep them.
	Messages []result.Example `json:"-"`
}

// Value is the median of the rounds in base units with its interval, see stats.Summary.
type Value struct {
	Unit   string  `json:"unit"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// Rounds is how many rounds it is known in, Coverage the true confidence of the interval: 0.95 or more, or less where the rounds are too few.
	Rounds   int     `json:"rounds"`
	Coverage float64 `json:"coverage"`
	// HalfWidth is half the width of the interval as a share of the median; 0 also where TooFew or where the median is not above zero.
	HalfWidth float64 `json:"-"`
	// TooFew: the rounds are too few for the confidence that is asked for.
	TooFew bool `json:"-"`
	// Observations are the figures of the single rounds, by round: for pictures.
	Observations []Observation `json:"-"`
}

// Observation is the figure of one round.
type Observation struct {
	Round int
	Value float64
}

// Flag is a doubt about a row. Rounds is how many rounds have it; 0 where it is about the whole row.
type Flag struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Rounds int    `json:"rounds,omitempty"`
	// Unranks says that the figures are not what was to be measured: the row is ranked only if asked.
	Unranks bool `json:"unranks,omitempty"`
}

// Comparison is one figure of a row as a ratio to the baseline's, paired within rounds. Only rows of the same workload, step,
// mode, store and concurrency are compared. What can't be compared at all is not in the list.
type Comparison struct {
	RowKey
	Baseline      string `json:"baseline"`
	BaselineConns int    `json:"baseline_conns"`
	Metric        string `json:"metric"`
	Rounds        int    `json:"rounds"` // in which both are known
	// Ratio is subject/baseline, Low and High its interval with the true confidence Coverage; see stats.Comparison.
	Ratio    float64 `json:"ratio"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Coverage float64 `json:"coverage"`
	// P is Wilcoxon's signed-rank test on the logarithms of the ratios, PHolm the same after Holm's correction over all
	// comparisons of this metric in the report.
	P     float64 `json:"p"`
	PHolm float64 `json:"p_holm"`
	// Detected: the interval excludes 1 and PHolm is below 0.05, or below the level of the look. Else no difference was detected, and
	// SmallestEffect is about the smallest that four in five such runs would have shown, as a share of the baseline; absent with too few rounds.
	Detected       bool     `json:"detected"`
	SmallestEffect *float64 `json:"smallest_effect,omitempty"`
	Text           string   `json:"text"`
	Notes          []string `json:"notes,omitempty"`
	// HalfWidth is half the width of the interval as a share of the ratio; TooFew: the rounds are too few for it.
	HalfWidth float64 `json:"-"`
	TooFew    bool    `json:"-"`
}
