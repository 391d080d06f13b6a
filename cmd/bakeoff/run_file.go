package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"bakeoff/harness/load"
	"bakeoff/harness/plan"
	"bakeoff/harness/workload"
	"bakeoff/internal/nearest"
)

// chosen is the experiment that a run is of.
type chosen struct {
	plan.Experiment
	text string // of the file that it stands in; empty for one that is built in
}

// named is the name of the experiment, where one is asked for.
func (c chosen) named(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	return []string{c.Name}
}

// choose finds the experiment of an argument: a file's, or one that is built in. Its errors are of the command line.
func choose(args []string) (chosen, error) {
	if len(args) == 0 {
		return chosen{Experiment: plan.All()[0]}, nil
	}
	name := args[0]
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") && !strings.ContainsRune(name, os.PathSeparator) {
		e, err := plan.Find(name)
		return chosen{Experiment: e}, err
	}
	f, err := os.Open(name)
	if err != nil {
		return chosen{}, fmt.Errorf("experiment: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, plan.MaxFile+1))
	if err != nil {
		return chosen{}, fmt.Errorf("experiment: %w", err)
	}
	return readExperiment(name, string(text))
}

// readExperiment reads a file, and holds what it names to what there is; each error has its place.
func readExperiment(name, text string) (chosen, error) {
	file, err := plan.ReadFile(name, []byte(text))
	if err != nil {
		return chosen{}, err
	}
	var errs []error
	wrong := func(setting string, i int, err error) {
		if err != nil {
			errs = append(errs, file.At(setting, i, err))
		}
	}
	for i, v := range file.Variants {
		wrong("variants", i, checkVariant(v))
	}
	names := subjectNames(file.Variants)
	for i, s := range file.Defaults.Subjects {
		if !slices.Contains(names, plan.Plain(s)) {
			wrong("subjects", i, nearest.Unknown("subject", plan.Plain(s), names))
		}
	}
	for i, w := range file.Defaults.Workloads {
		_, err := workload.Find(w)
		wrong("workloads", i, err)
	}
	for i, r := range file.Defaults.Rates {
		p, err := load.ParseProfile(r)
		wrong("rates", i, err)
		file.Defaults.Rates[i] = p.String()
	}
	return chosen{file.Experiment, text}, errors.Join(errs...)
}

// again is the experiment of a run that is resumed: that of its file as it stood then.
func (p *past) again(now chosen, named bool) (chosen, error) {
	var settings struct {
		ExperimentFile string `json:"experiment_file"`
	}
	if err := json.Unmarshal(p.Header.Settings, &settings); err != nil {
		return chosen{}, err
	}
	switch text := settings.ExperimentFile; {
	case named && now.text != text:
		return chosen{}, fmt.Errorf("--resume %s: the experiment %s is not the one of then: it may have been changed; leave it away, and the one of then goes on", p.Name, now.Name)
	case text == "":
		e, err := plan.Find(p.Header.Experiment)
		return chosen{Experiment: e}, err
	default:
		return readExperiment("the experiment in "+p.Name, text)
	}
}

// inFile are the flags that a file of an experiment has a place for, and those that have no meaning but for one run.
var inFile = []string{"subjects", "workload", "concurrency", "iterations", "conns", "rate", "rounds", "duration", "warmup", "turns", "quick", "print", "seed"}

// print writes the experiment, with the flags that were given, as a file.
func (j *job) print(flags *pflag.FlagSet, w io.Writer) error {
	var other error
	flags.Visit(func(fl *pflag.Flag) {
		if !slices.Contains(inFile, fl.Name) && other == nil {
			other = usage(fmt.Errorf("--%s with --print: the file of an experiment has no place for it: give it when the file is run", fl.Name))
		}
	})
	if other != nil {
		return other
	}
	text, err := j.experiment.Print(j.settings)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
