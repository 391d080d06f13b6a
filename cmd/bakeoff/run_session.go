package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bakeoff/harness/plan"
	"bakeoff/harness/report"
	"bakeoff/harness/result"
	harness "bakeoff/harness/run"
	"bakeoff/internal/plural"
)

// session is a job under way: its subjects have been examined, and its result file is open.
type session struct {
	*job
	config harness.Config
	header result.Header
	file   *result.Writer
	say    *progress
	judged []result.Subject // as the gate found them now; the header of a run that is resumed has them as they were
}

func (j *job) run(ctx context.Context, s *streams) error {
	defer j.hangUp()
	defer outliveReaders()()
	page, err := j.flags.live.open(ctx)
	if err != nil {
		return err
	}
	defer page.close(s)
	o, err := j.open(ctx, s)
	if err != nil {
		return err
	}
	if err := page.show(o, s); err != nil {
		o.say.close()
		return errors.Join(err, o.file.Close())
	}
	searches, trials, missed, runErr := o.searchAndMeasure(ctx)
	o.flags.tls.forget()
	lost := o.lost(ctx, trials)
	added := len(searches) + len(trials)
	trials = j.past.with(trials)
	o.say.close()
	runErr = errors.Join(interrupted(ctx, runErr, added), o.file.Close())

	// The report is made of what is in memory, so that a full disk takes nothing from it.
	tables, err := report.Build(result.File{Name: o.file.Path(), Header: o.header, Trials: trials, Searches: j.past.searched(searches)}, j.reportOptions())
	if err != nil {
		return errors.Join(runErr, err)
	}
	err = writeAll(ctx, j.outputs, tables, s)
	o.tellFile(s)
	if runErr != nil {
		fmt.Fprintf(s.err, "'bakeoff run --resume %s' goes on with what is missing\n", o.file.Path())
	}
	if err := errors.Join(runErr, err); err != nil {
		return err
	}
	page.linger(ctx, s)
	return incomplete(trials, o.judged, lost, noRate(alsoInvalid(alsoLost(missed, trials), tables), tables))
}

// tellFile says where the raw results are.
func (o *session) tellFile(s *streams) {
	path := o.file.Path()
	fmt.Fprintf(s.err, "raw results: %s ('bakeoff report %s' shows them again)\n", path, path)
}

// ownFile names the file of this program, which a run starts again as server and driver. A test has another in its place.
var ownFile = os.Executable

// open examines the subjects and opens the result file. Its caller closes say and file.
func (j *job) open(ctx context.Context, s *streams) (*session, error) {
	executable, err := ownFile()
	if err != nil {
		return nil, fmt.Errorf("find this program's file, to start it again as server and driver: %w", err)
	}
	if err := errors.Join(reachable(ctx, j.flags.store), j.contact(ctx)); err != nil {
		return nil, interrupted(ctx, err, 0)
	}
	say := newProgress(s.err, j)
	j.tellLeftOut(say)
	subjects, err := j.gate(ctx, executable, say)
	if err != nil {
		say.close()
		return nil, interrupted(ctx, err, 0)
	}
	told := j.describeTargets(subjects)
	header, err := j.header(ctx, subjects, told)
	if err != nil {
		say.close()
		return nil, err
	}
	w, err := j.create(&header, say)
	if err != nil {
		say.close()
		return nil, err
	}
	config := harness.Config{
		Executable: executable,
		Server:     func(t plan.Trial, behind string) harness.Command { return j.front(t, behind) },
		Driver:     j.driver,
		Prepare:    j.prepare,
		CountCalls: true,
		Asks:       j.asks,
		Sink:       w.Append,
	}
	if j.past != nil {
		config.Sink = j.past.sink
	}
	if store := storeCommand(j.flags.store); store != nil {
		config.Store = func(plan.Trial) harness.Command { return *store }
	}
	if j.targets == nil && slices.ContainsFunc(j.settings.Subjects, func(name string) bool { return j.subjects[name].Backend != nil }) {
		config.Backend = j.backend
	}
	o := &session{job: j, config: config, header: header, file: w, say: say, judged: subjects}
	o.remote(&o.config)
	o.config.Progress = func(at harness.Progress) { o.say.trial(at) } // a search of rates has another to say what follows it
	return o, nil
}

// interrupted gives the end by a signal its exit code, and says what became of the trials that had ended by then.
func interrupted(ctx context.Context, err error, ended int) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	text := "interrupted before the first trial had ended: nothing was measured"
	if ended > 0 {
		text = "interrupted; what had ended until then is kept, and what was being measured is lost"
	}
	return &exitError{exitInterrupted, errors.New(text)}
}

// incomplete says which exit code a run to the end deserves. Something that failed goes before all that was measured and is in doubt: who
// mends that has to measure again.
func incomplete(trials []result.Trial, subjects []result.Subject, lost []string, missed string) error {
	var failed, idle, unchecked, differ int
	trials, _ = result.Standing(trials)
	for _, t := range trials {
		switch {
		case t.Error != "":
			failed++
		case t.Outcomes.OK+t.Outcomes.FailedTotal() == 0:
			idle++
		}
	}
	for _, s := range subjects {
		switch {
		case s.Unchecked != "":
			unchecked++
		case !s.Conformant:
			differ++
		}
	}
	code := exitIncomplete
	if failed+unchecked+len(lost) > 0 {
		code = exitFailed
	}
	var parts []string
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s failed", failed, plural.Of(len(trials), "trial")))
	}
	parts = append(parts, lost...)
	if unchecked > 0 {
		parts = append(parts, fmt.Sprintf("subjects whose answers could not be checked, which are not ranked: %d", unchecked))
	}
	if differ > 0 {
		parts = append(parts, fmt.Sprintf("subjects that give other answers than agreed, which are not ranked: %d", differ))
	}
	if idle > 0 {
		parts = append(parts, fmt.Sprintf("in %d of %s no call ended: a longer --duration, or a higher --rate, gives them time", idle, plural.Of(len(trials), "trial")))
	}
	if missed != "" {
		parts = append(parts, missed)
	}
	if len(parts) == 0 {
		return nil
	}
	return &exitError{code, errors.New(strings.Join(parts, "; ") + ": see the report")}
}

func (j *job) header(ctx context.Context, subjects []result.Subject, told []result.Warning) (result.Header, error) {
	settings, err := json.Marshal(j.allSettings())
	if err != nil {
		return result.Header{}, err
	}
	return result.Header{
		Schema: result.Schema, Kind: "bakeoff-header", Version: version(), Experiment: j.experiment.Name, Started: time.Now().UTC(),
		Command: slices.Concat([]string{"bakeoff"}, os.Args[1:]), Seed: j.settings.Seed, Baseline: j.flags.baseline, Planned: max(j.planned, len(j.trials)), Precision: j.precision, FindRate: j.findRate(),
		Settings: settings, Subjects: subjects, Env: harness.Environment(ctx), Warnings: slices.Concat(machineWarnings(), told, j.flags.slow.warnings(), j.flags.rate.warnings(j.settings), j.partsWarnings()),
	}, nil
}

// allSettings are what the header says of the plan and of how it is carried out, in base words.
func (j *job) allSettings() map[string]any {
	all := map[string]any{
		"subjects": j.settings.Subjects, "workloads": j.settings.Workloads, "concurrency": j.settings.Concurrency, "conns": j.settings.Conns,
		"iterations": j.settings.Iterations, "rounds": j.settings.Rounds, "duration": j.settings.Duration.String(), "warmup": j.settings.Warmup.String(),
		"turns": j.settings.Turns, "rates": j.settings.Rates, "arrivals": j.flags.rate.arrivals, "max_failures": j.flags.rate.maxFailures,
		"timeout": j.flags.timeout.String(), "auth": j.flags.auth, "store": j.flags.store,
		"store_policy": storePolicy(j.flags.store, slices.Max(j.settings.Concurrency)),
	}
	if j.flags.file != "" {
		all["experiment_file"] = j.flags.file
	}
	if j.flags.recorded != nil {
		all["flags"] = j.flags.recorded
	}
	return all
}

// create opens the result file; without a name it is a new one under results/. That of a run that is resumed is open, and has a header.
func (j *job) create(header *result.Header, say *progress) (*result.Writer, error) {
	if j.past != nil {
		err := j.past.examined(*header, say)
		*header = j.past.Header
		return j.past.writer, err
	}
	h := *header
	if j.flags.results != "" {
		return result.Create(j.flags.results, h, false)
	}
	stem := filepath.Join(defaultResults, j.experiment.Name+"-"+h.Started.Format("20060102-150405"))
	for n := 1; ; n++ {
		path := stem + ".jsonl"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.jsonl", stem, n)
		}
		w, err := result.Create(path, h, false)
		if n < 100 && errors.Is(err, fs.ErrExist) {
			continue
		}
		return w, err
	}
}
