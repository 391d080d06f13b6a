package main

import (
	"fmt"
	"maps"
	"slices"

	"bakeoff/harness/plan"
	"bakeoff/protocol"
	"bakeoff/protocol/suite"
)

// variantOf finds the variant that a subject is, plain or over TLS; nil if it is none.
func variantOf(variants []plan.Variant, name string) *plan.Variant {
	i := slices.IndexFunc(variants, func(v plan.Variant) bool { return v.Name == plan.Plain(name) })
	if i < 0 {
		return nil
	}
	return &variants[i]
}

// subjectNames are those of all subjects, and of variants.
func subjectNames(variants []plan.Variant) []string {
	names := suite.Names()
	for _, v := range variants {
		names = append(names, v.Name)
	}
	return names
}

// variant makes the subject of that name of v: what v is a variant of, with the options of v set over its own.
func (f runFlags) variant(v plan.Variant, name string) (protocol.Protocol, error) {
	of := v.Of
	if plan.IsOverTLS(name) {
		of = plan.WithTLS(of)
	}
	p, err := f.tls.subject(of)
	if err != nil {
		return p, fmt.Errorf("variant %s: %w", v.Name, err)
	}
	knobs := maps.Clone(p.Tuning.Knobs)
	if knobs == nil {
		knobs = map[string]string{}
	}
	maps.Copy(knobs, v.Options)
	p.Tuning.Knobs = knobs
	p.Doc = v.Doc()
	if plan.IsOverTLS(name) {
		p.Doc += ", over TLS"
	}
	if err := p.Check(p.Options(1, 0)); err != nil {
		return p, fmt.Errorf("variant %s: %w", v.Name, err)
	}
	return p, nil
}

// checkVariant finds what is wrong with a variant of a file, whether or not it is measured.
func checkVariant(v plan.Variant) error {
	if slices.Contains(suite.Names(), v.Name) {
		return fmt.Errorf("variant %s: there is a subject of that name: choose another", v.Name)
	}
	_, err := runFlags{}.variant(v, v.Name)
	return err
}
