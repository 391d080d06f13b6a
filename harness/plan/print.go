package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// hint has editors check and complete a file by the schema of docs/experiments.
const hint = "# yaml-language-server: $schema=schema.json\n"

// printed is an experiment as a file has it.
type printed struct {
	Name        string           `yaml:"name"`
	Doc         string           `yaml:"doc,omitempty"`
	Variants    []printedVariant `yaml:"variants,omitempty"`
	Subjects    []string         `yaml:"subjects,flow"`
	Workloads   []string         `yaml:"workloads,flow"`
	Concurrency []int            `yaml:"concurrency,flow"`
	Iterations  []int            `yaml:"iterations,flow,omitempty"`
	Connections []any            `yaml:"connections,flow,omitempty"`
	Rates       []string         `yaml:"rates,flow,omitempty"`
	Rounds      int              `yaml:"rounds"`
	Duration    string           `yaml:"duration"`
	Warmup      string           `yaml:"warmup"`
	Turns       int              `yaml:"turns,omitempty"`
}

type printedVariant struct {
	Name    string            `yaml:"name"`
	Of      string            `yaml:"of"`
	Options map[string]string `yaml:"options"`
}

// Doc says what the variant is.
func (v Variant) Doc() string {
	var given []string
	for _, name := range slices.Sorted(maps.Keys(v.Options)) {
		given = append(given, name+"="+v.Options[name])
	}
	return v.Of + " with " + strings.Join(given, ", ")
}

// Print writes the experiment with these settings as a file that ReadFile reads. The seed is no part of it.
func (e Experiment) Print(s Settings) ([]byte, error) {
	p := printed{Name: e.Name, Doc: e.Doc, Subjects: s.Subjects, Workloads: s.Workloads, Concurrency: s.Concurrency, Iterations: s.Iterations, Rates: s.Rates,
		Rounds: s.Rounds, Duration: s.Duration.String(), Warmup: s.Warmup.String(), Turns: s.Turns}
	for _, v := range e.Variants {
		p.Variants = append(p.Variants, printedVariant(v))
	}
	for _, n := range s.Conns {
		if n == 0 {
			p.Connections = append(p.Connections, Matched)
			continue
		}
		p.Connections = append(p.Connections, n)
	}
	text, err := yaml.MarshalWithOptions(p, yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("print the experiment %s: %w", e.Name, err)
	}
	return append([]byte(hint), text...), nil
}
