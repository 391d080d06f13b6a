package report

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// optionTable has the effective options side by side: a column for each subject.
type optionTable struct {
	Subjects []string
	Rows     []optionRow
}

type optionRow struct {
	Name    string
	Values  []string
	Differs bool
}

// optionsOf collects what both ends were told in the rows of each subject. One that changes with the level has all its values.
func optionsOf(t Tables) optionTable {
	var table optionTable
	bySubject := map[string]map[string][]string{}
	names := map[string]bool{}
	for _, r := range t.Rows {
		if len(r.Options) == 0 {
			continue
		}
		options := flat(r.Options)
		if bySubject[r.Subject] == nil {
			bySubject[r.Subject] = map[string][]string{}
			table.Subjects = append(table.Subjects, clean(r.Subject))
		}
		for name, v := range options {
			names[name] = true
			if of := bySubject[r.Subject]; !slices.Contains(of[name], v) {
				of[name] = append(of[name], v)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row := optionRow{Name: clean(name)}
		for _, s := range table.Subjects {
			v := "default"
			for subject, of := range bySubject {
				if clean(subject) == s && len(of[name]) > 0 {
					v = clean(strings.Join(of[name], " / "))
				}
			}
			row.Values = append(row.Values, v)
			row.Differs = row.Differs || v != row.Values[0]
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// flat are the leaves of a JSON object by their paths; what is no object is one leaf.
func flat(raw json.RawMessage) map[string]string {
	out := map[string]string{}
	var walk func(path string, raw json.RawMessage)
	walk = func(path string, raw json.RawMessage) {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) == nil && len(object) > 0 {
			for name, v := range object {
				walk(strings.TrimPrefix(path+"."+name, "."), v)
			}
			return
		}
		text := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			text = s
		}
		if path != "" {
			out[path] = text
		}
	}
	walk("", raw)
	return out
}

// settingPairs are the settings of the plan.
func settingPairs(t Tables) []fact {
	pairs := sortedPairs("", flat(t.Settings))
	for i := range pairs {
		pairs[i].Name, pairs[i].Text = clean(pairs[i].Name), clean(pairs[i].Text)
	}
	return pairs
}

func sortedPairs(prefix string, m map[string]string) []fact {
	var pairs []fact
	for _, k := range slices.Sorted(maps.Keys(m)) {
		pairs = append(pairs, fact{prefix + k, m[k]})
	}
	return pairs
}
