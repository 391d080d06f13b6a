package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"bakeoff/harness/result"
)

// Beside is several runs side by side: a column for each, and what differs between them beside the figures. It compares nothing: what changed
// between two runs is for Compare to say, which tests it.
type Beside struct {
	Schema int   `json:"schema"`
	Runs   []Run `json:"runs"`
	// Rows are all rows of all runs: by level, and there in the order in which they first appear.
	Rows     []BesideRow      `json:"rows"`
	Warnings []result.Warning `json:"warnings"`
}

// Run is one column: a file, or shards that belong together.
type Run struct {
	Name       string    `json:"name"` // short, and other than those of the others
	Files      []string  `json:"files"`
	Experiment string    `json:"experiment"`
	Version    string    `json:"version,omitempty"`
	Started    time.Time `json:"started,omitzero"`
	Rounds     int       `json:"rounds"`
	Planned    int       `json:"planned_trials"`
	Measured   int       `json:"measured_trials"`
	// Differs is what is other than in the first run.
	Differs []Suspect `json:"differs"`
}

// BesideRow is one row in all runs.
type BesideRow struct {
	RowKey
	// Cells are in the order of the runs; null where a run does not have the row.
	Cells []*BesideCell `json:"cells"`
}

// BesideCell is a row of one run.
type BesideCell struct {
	Ranked  bool              `json:"ranked"`
	Metrics map[string]Value  `json:"metrics"`
	Unknown map[string]string `json:"unknown,omitempty"`
	Flags   []Flag            `json:"flags"`
}

// LayBeside lays runs side by side.
func LayBeside(runs []Merged, o Options) (Beside, error) {
	b := Beside{Schema: Schema, Rows: []BesideRow{}, Runs: []Run{}, Warnings: []result.Warning{}}
	names := runNames(runs)
	for i, m := range runs {
		t, err := m.Build(o)
		if err != nil {
			return Beside{}, err
		}
		differs := []Suspect{}
		if i > 0 {
			differs = append(differs, suspects(runs[0].File, m.File)...)
		}
		b.Runs = append(b.Runs, Run{Name: names[i], Files: m.Names, Experiment: t.Experiment, Version: t.Version, Started: t.Started, Rounds: t.Rounds,
			Planned: t.Planned, Measured: t.Measured, Differs: differs})
		b.Warnings = append(b.Warnings, named(names[i], t.Warnings)...)
		for _, r := range t.Rows {
			at := slices.IndexFunc(b.Rows, func(o BesideRow) bool { return o.RowKey == r.key() && (len(o.Cells) <= i || o.Cells[i] == nil) })
			if at < 0 {
				at = len(b.Rows)
				b.Rows = append(b.Rows, BesideRow{RowKey: r.key(), Cells: make([]*BesideCell, len(runs))})
			}
			b.Rows[at].Cells[i] = &BesideCell{r.Ranked, r.Metrics, r.Unknown, r.Flags}
		}
	}
	b.warnTwice(runs)
	slices.SortStableFunc(b.Rows, func(x, y BesideRow) int {
		return cmp.Or(cmp.Compare(x.Concurrency, y.Concurrency), cmp.Compare(firstRate(x.Rate), firstRate(y.Rate)), cmp.Compare(x.Rate, y.Rate))
	})
	return b, nil
}

// warnTwice says what two runs have in common; of several of one plan each is told of once.
func (b *Beside) warnTwice(runs []Merged) {
	for i, m := range runs {
		told := false
		for _, before := range runs[:i] {
			o, again := overlapOf(before.File, m.File), !told && samePlan(before.File, m.File)
			b.Warnings = append(b.Warnings, o.warnings("they stand beside themselves there, and nothing new was measured", again)...)
			told = told || again
		}
	}
}

// longestRunName is how wide the name of a column may be; longer ones are numbers.
const longestRunName = 18

// runNames are the files' names without folder and ending where they tell the runs apart, else numbers.
func runNames(runs []Merged) []string {
	names := make([]string, len(runs))
	for i, m := range runs {
		if len(m.Names) > 0 {
			names[i] = strings.TrimSuffix(filepath.Base(m.Names[0]), ".jsonl")
		}
	}
	for i, name := range names {
		if name == "" || text.StringWidthWithoutEscSequences(name) > longestRunName || slices.Index(names, name) < i {
			for j := range names {
				names[j] = fmt.Sprintf("run %d", j+1)
			}
			break
		}
	}
	return names
}
