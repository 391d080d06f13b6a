package result

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestOlderSchema reads what schema 1 said of subjects that could not be checked, and the same words in a later one, where they are a difference.
func TestOlderSchema(t *testing.T) {
	for _, c := range []struct {
		schema string
		want   Subject
	}{
		{"1", Subject{Name: "a", Unchecked: "the server died"}},
		{"2", Subject{Name: "a", Differences: []string{"its answers could not be checked: the server died"}}},
	} {
		f, err := Read(strings.NewReader(`{"schema":`+c.schema+`,"kind":"bakeoff-header","planned":1,"subjects":[{"name":"a","differences":["its answers could not be checked: the server died"]}]}`), "f")
		if err != nil || f.Header.Schema != Schema {
			t.Fatalf("schema %s: %+v, %v", c.schema, f.Header, err)
		}
		if d := cmp.Diff([]Subject{c.want}, f.Header.Subjects, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("schema %s: %s", c.schema, d)
		}
	}
}
