package report

import (
	"cmp"
	"fmt"
	"strings"
)

// pair is a row of each file; nil where there is none.
type pair struct {
	key      RowKey
	old, new *Row
}

// pairs matches the rows: those of the old file in their order, then those that are new.
func pairs(before, after Tables) []pair {
	var ps []pair
	taken := map[*Row]bool{}
	for i := range before.Rows {
		p := pair{key: before.Rows[i].key(), old: &before.Rows[i]}
		for j := range after.Rows {
			r := &after.Rows[j]
			if taken[r] || !p.old.matches(r) {
				continue
			}
			if p.new == nil || r.Store == p.old.Store { // of two stores of one kind the same one is the better match
				p.new = r
			}
		}
		if p.new != nil {
			taken[p.new] = true
		}
		ps = append(ps, p)
	}
	for j := range after.Rows {
		if r := &after.Rows[j]; !taken[r] {
			ps = append(ps, pair{key: r.key(), new: r})
		}
	}
	return ps
}

func (r *Row) matches(o *Row) bool { return r.key() == o.key() }

// key is what the row has in common with that of another file.
func (r *Row) key() RowKey {
	k := r.place()
	k.Store = storeKind(r.Store)
	return k
}

// place is where the row stands in its own report.
func (r *Row) place() RowKey {
	return RowKey{r.Subject, r.Workload, r.Step, r.Mode, r.Store, r.Concurrency, r.Rate, r.Arrivals, r.Conns}
}

// whyNot says why rows of which one is not ranked are not compared.
func whyNot(rows ...Row) string {
	for _, r := range rows {
		if kinds := r.unranking(); len(kinds) > 0 {
			return "its figures are not what was to be measured: " + strings.ReplaceAll(strings.Join(kinds, ", "), "_", " ")
		}
	}
	return "its answers differ from those of the others, or could not be checked, so that it may do other work"
}

// storeKind is the first word of what a store says of itself, without its version and where it is: "aerospike" of
// "aerospike 8.0.0" and of "aerospike://db:3000/test".
func storeKind(store string) string {
	if i := strings.IndexAny(store, " :("); i > 0 {
		return store[:i]
	}
	return store
}

// whyNot is why a row is not ranked.
func (r *Row) whyNot(t Tables) string {
	for _, n := range t.NotRanked {
		if n.Subject == r.Subject {
			return n.Reason
		}
	}
	for _, f := range r.Flags {
		if f.Unranks {
			return f.Text
		}
	}
	return "the row of the whole is not" // that of a step
}

// missing says why a figure is not known on both sides, "" if it is.
func missing(p pair, metric, older, newer string) string {
	before, after := p.old.unknown(metric), p.new.unknown(metric)
	switch {
	case before == "" && after == "":
		return ""
	case before == after:
		return "unknown in both files: " + before
	case before == "":
		return fmt.Sprintf("unknown in %s: %s", newer, after)
	case after == "":
		return fmt.Sprintf("unknown in %s: %s", older, before)
	}
	return fmt.Sprintf("unknown in %s: %s; in %s: %s", older, before, newer, after)
}

func (r *Row) unknown(metric string) string {
	if _, ok := r.Metrics[metric]; ok {
		return ""
	}
	return cmp.Or(r.Unknown[metric], notMeasured)
}
