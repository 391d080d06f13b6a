package plan

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"bakeoff/internal/nearest"
)

// File is an experiment that stands in a file, with the places of its settings, so that what is wrong can be shown where it stands.
type File struct {
	Experiment
	name   string
	places map[place]position
}

// place is a setting, by the name that SettingError has for it; index -1 is the whole of it.
type place struct {
	setting string
	index   int
}

type position struct{ line, column int }

// fileName is what an experiment or a variant may be called: it stands in names of files, on command lines and in tables.
var fileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Matched is the word for as many connections as there are calls in flight.
const Matched = "matched"

// MaxFile bounds a file in bytes. An experiment has some hundred; and the parser's memory grows with the square of how deep a text is
// nested: 64 KiB of brackets would take gigabytes.
const MaxFile = 16 << 10

// ReadFile reads an experiment as Print writes it. name is the file's, for errors: each begins with file, line and column. What a file
// leaves out is as in the first experiment of All, except for the subjects.
func ReadFile(name string, data []byte) (File, error) {
	if len(data) > MaxFile {
		return File{}, fmt.Errorf("%s:1:1: it has more than %d bytes: no experiment needs as many", name, MaxFile)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) { // as some shells write with >
		return File{}, fmt.Errorf("%s:1:1: it is UTF-16: save it as UTF-8", name)
	}
	tree, err := parser.ParseBytes(plainLines(data), 0)
	if err != nil {
		var at yaml.Error
		if errors.As(err, &at) && at.GetToken() != nil {
			p := at.GetToken().Position
			return File{}, fmt.Errorf("%s:%d:%d: %s", name, p.Line, p.Column, at.GetMessage())
		}
		return File{}, fmt.Errorf("%s:1:1: %w", name, err)
	}
	r := &reader{file: File{name: name, places: map[place]position{}}}
	d := dataType.Defaults
	r.file.Experiment = Experiment{Trials: Blocks, Defaults: Settings{Workloads: slices.Clone(d.Workloads), Concurrency: slices.Clone(d.Concurrency),
		Rounds: d.Rounds, Duration: d.Duration, Warmup: d.Warmup}}
	switch {
	case len(tree.Docs) == 0 || tree.Docs[0].Body == nil:
		return File{}, fmt.Errorf("%s:1:1: the file is empty: it must have a name and subjects", name)
	case len(tree.Docs) > 1 && tree.Docs[1].Body != nil:
		r.fail(tree.Docs[1].Body, "a second document begins: a file is one experiment")
	default:
		r.experiment(tree.Docs[0].Body)
	}
	if len(r.errs) == 0 {
		for _, err := range flatten(r.file.Defaults.Valid()) {
			var wrong *SettingError
			if errors.As(err, &wrong) {
				err = r.file.At(wrong.Setting, wrong.Index, err)
			}
			r.errs = append(r.errs, err)
		}
	}
	return r.file, errors.Join(r.errs...)
}

// flatten gives the errors that errors.Join has joined.
func flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// At puts the place of a setting in front of an error; index -1 is the whole setting, and where the file does not have it, the whole file.
func (f File) At(setting string, index int, err error) error {
	p, ok := f.places[place{setting, index}]
	if !ok {
		p, ok = f.places[place{setting, -1}]
	}
	if !ok {
		p = position{1, 1}
	}
	return fmt.Errorf("%s:%d:%d: %w", f.name, p.line, p.column, err)
}

// reader gathers what a file says, and what is wrong with it.
type reader struct {
	file File
	errs []error
}

func (r *reader) fail(n ast.Node, format string, args ...any) {
	p := begin(n)
	r.errs = append(r.errs, fmt.Errorf("%s:%d:%d: %w", r.file.name, p.line, p.column, fmt.Errorf(format, args...)))
}

// keep remembers where a setting stands.
func (r *reader) keep(setting string, index int, n ast.Node) {
	r.file.places[place{setting, index}] = begin(n)
}

// begin is where a node begins: the token of a mapping is its first colon.
func begin(n ast.Node) position {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return begin(m.Values[0])
		}
	case *ast.MappingValueNode:
		return begin(m.Key)
	}
	p := n.GetToken().Position
	return position{p.Line, p.Column}
}

// plainLines takes away a byte-order mark, and the carriage returns that the parser would count as lines of their own behind comments.
func plainLines(data []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
}

func (r *reader) experiment(n ast.Node) {
	e := &r.file.Experiment
	s := &e.Defaults
	r.mapping("an experiment", n, []key{
		{"name", func(n ast.Node) { e.Name = r.named(n) }},
		{"doc", func(n ast.Node) { e.Doc, _ = r.text(n) }},
		{"variants", func(n ast.Node) {
			e.Variants = nil
			for i, item := range r.list(n) {
				r.keep("variants", i, item)
				e.Variants = append(e.Variants, r.variant(item))
			}
		}},
		{"subjects", func(n ast.Node) { s.Subjects = r.texts("subjects", n) }},
		{"workloads", func(n ast.Node) { s.Workloads = r.texts("workloads", n) }},
		{"concurrency", func(n ast.Node) { s.Concurrency = r.numbers("concurrency", n, "") }},
		{"iterations", func(n ast.Node) { s.Iterations = r.numbers("iterations", n, "") }},
		{"connections", func(n ast.Node) { s.Conns = r.numbers("conns", n, Matched) }},
		{"rates", func(n ast.Node) { s.Rates = r.texts("rates", n) }},
		{"rounds", func(n ast.Node) {
			r.keep("rounds", -1, n)
			s.Rounds = r.number(n, "")
		}},
		{"duration", func(n ast.Node) { s.Duration = r.duration("duration", n) }},
		{"warmup", func(n ast.Node) { s.Warmup = r.duration("warmup", n) }},
		{"turns", func(n ast.Node) {
			r.keep("turns", -1, n)
			s.Turns = r.number(n, "")
		}},
	})
	if e.Name == "" && len(r.errs) == 0 {
		r.fail(n, "name: there is none; give one")
	}
	seen := map[string]bool{}
	for i, v := range e.Variants {
		if seen[v.Name] && v.Name != "" {
			r.errs = append(r.errs, r.file.At("variants", i, fmt.Errorf("variants: %q stands there twice; name each once", v.Name)))
		}
		seen[v.Name] = true
	}
}

func (r *reader) variant(n ast.Node) Variant {
	var v Variant
	before := len(r.errs)
	r.mapping("a variant", n, []key{
		{"name", func(n ast.Node) { v.Name = r.named(n) }},
		{"of", func(n ast.Node) { v.Of, _ = r.text(n) }},
		{"options", func(n ast.Node) {
			v.Options = map[string]string{}
			for _, pair := range r.pairs("options", n) {
				name, _ := r.text(pair.Key)
				v.Options[name], _ = r.text(pair.Value)
			}
		}},
	})
	if len(r.errs) == before && (v.Name == "" || v.Of == "" || len(v.Options) == 0) {
		r.fail(n, "a variant has a name, the subject that it is one of, and options, as in {name: grpc-reflection, of: grpc, options: {reflection: on}}")
	}
	return v
}

// key is what a mapping may have.
type key struct {
	name string
	read func(ast.Node)
}

func (r *reader) mapping(what string, n ast.Node, keys []key) {
	seen := map[string]bool{}
	for _, pair := range r.pairs(what, n) {
		name, ok := r.text(pair.Key)
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		switch {
		case !ok:
		case i < 0:
			var names []string
			for _, k := range keys {
				names = append(names, k.name)
			}
			r.fail(pair.Key, "%w", nearest.Unknown("key of "+what, name, names))
		case seen[name]:
			r.fail(pair.Key, "%s stands there twice", name)
		default:
			seen[name] = true
			keys[i].read(pair.Value)
		}
	}
}

func (r *reader) pairs(what string, n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	r.fail(n, "%s must be keys with values, as in name: value", what)
	return nil
}

// list gives the elements; a value by itself is a list of one.
func (r *reader) list(n ast.Node) []ast.Node {
	switch s := n.(type) {
	case *ast.SequenceNode:
		return s.Values
	case *ast.NullNode:
		return nil
	}
	return []ast.Node{n}
}

func (r *reader) texts(setting string, n ast.Node) []string {
	r.keep(setting, -1, n)
	var all []string
	for i, item := range r.list(n) {
		r.keep(setting, i, item)
		if s, ok := r.text(item); ok {
			all = append(all, s)
		}
	}
	return all
}

// text is a single value as it is written, whatever YAML takes it for: "on" is an option's value, and no truth.
func (r *reader) text(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return strings.TrimSpace(s.Value.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	r.fail(n, "must be a single value, without anchors, aliases or tags")
	return "", false
}

func (r *reader) named(n ast.Node) string {
	s, ok := r.text(n)
	if ok && !fileName.MatchString(s) {
		r.fail(n, "name %q: must be letters, digits and . _ - after a letter or digit, and at most 64 of them", s)
	}
	return s
}

func (r *reader) numbers(setting string, n ast.Node, zero string) []int {
	r.keep(setting, -1, n)
	var all []int
	for i, item := range r.list(n) {
		r.keep(setting, i, item)
		all = append(all, r.number(item, zero))
	}
	return all
}

// number reads a whole number; zero is a word for 0, if there is one.
func (r *reader) number(n ast.Node, zero string) int {
	s, ok := r.text(n)
	if !ok || zero != "" && s == zero {
		return 0
	}
	i, err := strconv.Atoi(s)
	if err != nil {
		or := ""
		if zero != "" {
			or = ", or " + zero
		}
		r.fail(n, "%q: must be a whole number, such as 50%s", s, or)
	}
	return i
}

func (r *reader) duration(setting string, n ast.Node) time.Duration {
	r.keep(setting, -1, n)
	s, ok := r.text(n)
	d, err := time.ParseDuration(s)
	if ok && err != nil {
		r.fail(n, "%q: must be a time with its unit, such as 2s, 500ms or 1m30s", s)
	}
	return d
}
