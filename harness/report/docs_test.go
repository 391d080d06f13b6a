package report

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs is where the JSON is described; docsMark stands above what is made from the code.
const (
	docs     = "../../docs/results.md"
	docsMark = "-run TestDocs -update -->\n"
)

// TestDocs holds the description of the JSON to the code: every field, figure and kind of flag is there with its comment, and nothing else.
func TestDocs(t *testing.T) {
	old, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	text, _, ok := strings.Cut(string(old), docsMark)
	if !ok {
		t.Fatalf("%s has no line that ends in %q", docs, docsMark)
	}
	var b strings.Builder
	b.WriteString(text + docsMark)
	of := sourcesOf(t, "../result", ".")
	for _, root := range []struct{ title, name string }{
		{"The result file", "result.Header"}, {"", "result.Trial"}, {"A report", "Tables"}, {"Several runs side by side", "Beside"}, {"A comparison of two files", "Changes"},
	} {
		if root.title != "" {
			fmt.Fprintf(&b, "\n## %s\n", root.title)
		}
		of.write(t, &b, root.name)
	}
	fmt.Fprintf(&b, "\n## Figures\n\nThe names in `metrics`, in their order.\n\n| name | unit | better | meaning |\n| --- | --- | --- | --- |\n")
	for _, m := range Metrics {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Unit, map[Direction]string{Lower: "lower", Higher: "higher"}[m.Better], m.Doc)
	}
	fmt.Fprintf(&b, "\n## Kinds of flags and warnings\n\n| kind | meaning |\n| --- | --- |\n")
	for _, k := range of.kinds {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k[0], k[1])
	}
	if *update {
		if err := os.WriteFile(docs, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(old), b.String()); d != "" {
		t.Errorf("%s is not what the code says (-file +code; go test ./harness/report -run TestDocs -update writes it):\n%s", docs, d)
	}
}

// sources are the structs of this package by name and those of result as result.Name, and the values of their constants that are kinds.
type sources struct {
	structs map[string]*ast.TypeSpec
	docs    map[string]string
	kinds   [][2]string
	written map[string]bool
}

func sourcesOf(t *testing.T, folders ...string) *sources {
	s := &sources{structs: map[string]*ast.TypeSpec{}, docs: map[string]string{}, written: map[string]bool{}}
	for _, folder := range folders {
		from := ""
		if folder != "." {
			from = filepath.Base(folder) + "."
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					s.take(from, g)
				}
			}
		}
	}
	slices.SortFunc(s.kinds, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	s.kinds = slices.CompactFunc(s.kinds, func(a, b [2]string) bool { return a[0] == b[0] })
	return s
}

var kindName = regexp.MustCompile(`^(Flag|Warn)[A-Z]`)

func (s *sources) take(from string, g *ast.GenDecl) {
	for _, spec := range g.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if _, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() {
				s.structs[from+spec.Name.Name], s.docs[from+spec.Name.Name] = spec, oneLine(g.Doc, spec.Doc)
			}
		case *ast.ValueSpec:
			for i, name := range spec.Names {
				if !kindName.MatchString(name.Name) || i >= len(spec.Values) {
					continue
				}
				if lit, ok := spec.Values[i].(*ast.BasicLit); ok {
					if value, err := strconv.Unquote(lit.Value); err == nil {
						s.kinds = append(s.kinds, [2]string{value, oneLine(spec.Doc, spec.Comment)})
					}
				}
			}
		}
	}
}

// oneLine is the text of comments, fit for a cell of a table.
func oneLine(comments ...*ast.CommentGroup) string {
	var parts []string
	for _, c := range comments {
		if text := strings.Join(strings.Fields(c.Text()), " "); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(strings.Join(parts, " "))
}

// write describes a struct, and behind it those that its fields are made of.
func (s *sources) write(t *testing.T, b *strings.Builder, name string) {
	if s.written[name] {
		return
	}
	s.written[name] = true
	spec, ok := s.structs[name]
	if !ok {
		t.Fatalf("there is no struct %s", name)
	}
	from, _, _ := strings.Cut(name, ".")
	if from == name {
		from = ""
	}
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n| name | type | meaning |\n| --- | --- | --- |\n", s.title(name), s.docs[name])
	var next []string
	for _, f := range spec.Type.(*ast.StructType).Fields.List {
		kind := types.ExprString(f.Type)
		if len(f.Names) == 0 { // embedded
			fmt.Fprintf(b, "| all of %s | | |\n", kind)
			next = append(next, kind)
			continue
		}
		if f.Tag == nil {
			continue // not in the JSON
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			t.Fatal(err)
		}
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if key == "-" || key == "" {
			continue
		}
		words, of := s.typeWords(from, kind)
		if options != "" {
			words += ", may be absent"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, words, oneLine(f.Doc, f.Comment))
		if of != "" {
			next = append(next, of)
		}
	}
	for _, n := range next {
		s.write(t, b, n)
	}
}

// title is the name of a struct, with its package only where both have one of that name.
func (s *sources) title(name string) string {
	short := strings.TrimPrefix(name, "result.")
	if short != name && s.structs[short] != nil {
		return name
	}
	return short
}

// typeWords says what a type is in JSON, and which struct it is made of. From is the package that speaks of it.
func (s *sources) typeWords(from, kind string) (words, of string) {
	for prefix, word := range map[string]string{"[]": "list of ", "map[string]": "object by name of "} {
		if rest, ok := strings.CutPrefix(kind, prefix); ok {
			inner, of := s.typeWords(from, rest)
			return word + inner, of
		}
	}
	kind = strings.TrimPrefix(kind, "*")
	switch kind {
	case "string":
		return "text", ""
	case "bool":
		return "true or false", ""
	case "float64":
		return "number", ""
	case "int", "int64", "uint64":
		return "whole number", ""
	case "time.Time":
		return "time (RFC 3339)", ""
	case "json.RawMessage":
		return "any JSON", ""
	}
	if from != "" {
		kind = from + "." + kind
	}
	return s.title(kind), kind
}
