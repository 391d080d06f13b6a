package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// The schema that editors check by has the keys that ReadFile takes, and the bounds that Valid has.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("../../docs/experiments/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties  map[string]json.RawMessage
		Definitions map[string]struct {
			Pattern string
			Maximum int
			OneOf   []struct{ Maximum int }
		}
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	d := schema.Definitions
	if d["name"].Pattern != fileName.String() || d["level"].Maximum != MaxConcurrency || d["connections"].OneOf[0].Maximum != MaxConns {
		t.Errorf("the bounds of the schema are others: %+v", d)
	}
	keys := slices.Sorted(maps.Keys(schema.Properties))
	var in strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&in, "%s: {}\n", k)
	}
	in.WriteString("no-such-key: 1\n")
	_, err = ReadFile("x.yaml", []byte(in.String()))
	_, known, _ := strings.Cut(err.Error(), `unknown key of an experiment "no-such-key"`)
	_, known, _ = strings.Cut(known, "(")
	known, _, _ = strings.Cut(known, ")")
	taken := strings.Split(known, ", ")
	slices.Sort(taken)
	if !slices.Equal(keys, taken) {
		t.Errorf("the schema has %q, and files %q", keys, taken)
	}
}
