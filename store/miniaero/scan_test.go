package miniaero_test

import (
	"fmt"
	"slices"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"

	"bakeoff/store/miniaero"
)

// fill puts n records, numbered in bin n, into a set.
func fill(t testing.TB, s *miniaero.Server, set string, n int) {
	t.Helper()
	for i := range n {
		k := miniaero.Key{Namespace: "test", Set: set, ID: i}
		if err := s.Put(k, map[string]any{"n": i, "even": i%2 == 0}, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// drain reads a scan to its end: the values of bin n, sorted.
func drain(t testing.TB, rs *as.Recordset, err as.Error) []int {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for r := range rs.Results() {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		n, ok := r.Record.Bins["n"].(int)
		if !ok {
			t.Fatalf("a record without a number: %v", r.Record)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestScan(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 8)
	fill(t, s, "one", 2000)
	fill(t, s, "two", 10)
	rs, err := c.ScanAll(nil, "test", "one")
	if got := drain(t, rs, err); !slices.Equal(got, numbers(2000)) {
		t.Errorf("scan of 2000 records answered %d", len(got))
	}
	rs, err = c.ScanAll(nil, "test", "")
	if got := drain(t, rs, err); len(got) != 2010 {
		t.Errorf("scan of the namespace answered %d of 2010", len(got))
	}
	rs, err = c.ScanAll(nil, "test", "none")
	if got := drain(t, rs, err); len(got) != 0 {
		t.Errorf("scan of a set that is not answered %v", got)
	}
	rs, err = c.ScanAll(nil, "test", "two", "n")
	if got := drain(t, rs, err); !slices.Equal(got, numbers(10)) {
		t.Errorf("scan for one bin answered %v", got)
	}
}

// TestScanInPages: a scan with a limit goes on where it stopped, and sees each record once.
func TestScanInPages(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 8)
	fill(t, s, "pages", 500)
	filter := as.NewPartitionFilterAll()
	p := as.NewScanPolicy()
	p.MaxRecords = 60
	var all []int
	for page := 0; !filter.IsDone(); page++ {
		if page > 20 {
			t.Fatalf("no end after %d pages and %d records", page, len(all))
		}
		rs, err := c.ScanPartitions(p, filter, "test", "pages")
		got := drain(t, rs, err)
		if len(got) > 60 {
			t.Errorf("page %d has %d records, the limit is 60", page, len(got))
		}
		all = append(all, got...)
	}
	slices.Sort(all)
	if !slices.Equal(all, numbers(500)) {
		t.Errorf("%d records in pages, want each of 500 once", len(all))
	}
}

func TestQuery(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 8)
	fill(t, s, "q", 100)
	p := as.NewQueryPolicy()
	p.MaxRetries = 0
	statement := as.NewStatement("test", "q")
	if err := statement.SetFilter(as.NewRangeFilter("n", 10, 19)); err != nil {
		t.Fatal(err)
	}
	rs, err := c.Query(p, statement)
	if err == nil {
		if r := <-rs.Results(); r == nil || r.Err == nil {
			t.Errorf("a query without an index answered %v", r)
		}
	}
	task, err := c.CreateIndex(nil, "test", "q", "idx", "n", as.NUMERIC)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-task.OnComplete(); err != nil {
		t.Fatal(err)
	}
	rs, err = c.Query(p, statement)
	if got, want := drain(t, rs, err), numbers(20)[10:]; !slices.Equal(got, want) {
		t.Errorf("query of 10 to 19 answered %v", got)
	}
	if err := c.DropIndex(nil, "test", "q", "idx"); err != nil {
		t.Error(err)
	}
}

func TestFilterExpressions(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 8)
	fill(t, s, "f", 100)
	n, even := as.ExpIntBin("n"), as.ExpBoolBin("even")
	for _, f := range []struct {
		name string
		e    *as.Expression
		want int
	}{
		{"n < 10", as.ExpLess(n, as.ExpIntVal(10)), 10},
		{"n >= 90", as.ExpGreaterEq(n, as.ExpIntVal(90)), 10},
		{"10 <= n and n <= 19", as.ExpAnd(as.ExpLessEq(as.ExpIntVal(10), n), as.ExpLessEq(n, as.ExpIntVal(19))), 10},
		{"n = 1 or n = 2", as.ExpOr(as.ExpEq(n, as.ExpIntVal(1)), as.ExpEq(n, as.ExpIntVal(2))), 2},
		{"not n > 4", as.ExpNot(as.ExpGreater(n, as.ExpIntVal(4))), 5},
		{"n != 7", as.ExpNotEq(n, as.ExpIntVal(7)), 99},
		{"even", as.ExpEq(even, as.ExpBoolVal(true)), 50},
		{"a bin that is not", as.ExpEq(as.ExpIntBin("none"), as.ExpIntVal(1)), 0},
		{"has bin", as.ExpBinExists("even"), 100},
		{"text where there is a number", as.ExpEq(as.ExpStringBin("n"), as.ExpStringVal("x")), 0},
	} {
		p := as.NewScanPolicy()
		p.FilterExpression = f.e
		rs, err := c.ScanAll(p, "test", "f")
		if got := drain(t, rs, err); len(got) != f.want {
			t.Errorf("%s: %d records, want %d", f.name, len(got), f.want)
		}
	}
	p := as.NewPolicy()
	p.FilterExpression = as.ExpEq(as.ExpNumMod(n, as.ExpIntVal(2)), as.ExpIntVal(0))
	if _, err := c.Get(p, key(t, "f", 1)); code(err) != "4" {
		t.Errorf("an expression that is not supported: got %v, want code 4", err)
	}
}

func TestTruncate(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 8)
	fill(t, s, "one", 50)
	fill(t, s, "two", 20)
	if err := c.Truncate(nil, "test", "one", nil); err != nil {
		t.Fatal(err)
	}
	if n := s.Len("test"); n != 20 {
		t.Errorf("%d records after the truncate of one set, want the 20 of the other", n)
	}
	if err := c.Truncate(nil, "test", "", nil); err != nil {
		t.Fatal(err)
	}
	if n := s.Len("test"); n != 0 {
		t.Errorf("%d records after the truncate of the namespace", n)
	}
	if err := c.Truncate(nil, "nope", "one", nil); err == nil {
		t.Error("a namespace that is not was truncated")
	}
	if m := s.Memory("test"); m != 0 {
		t.Errorf("nothing takes %d bytes", m)
	}
}

func TestInfo(t *testing.T) {
	s := miniaero.RunT(t, miniaero.Options{Namespaces: []string{"test", "other"}, Advertise: []string{"db.example:3000"}, Build: "7.0.0.1"})
	c := connect(t, s.Addr(), 8)
	fill(t, s, "one", 3)
	info, err := c.GetNodes()[0].RequestInfo(as.NewInfoPolicy(), "build", "namespaces", "sets/test", "statistics", "service-clear-std", "namespace/nope", "what")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"build": "7.0.0.1", "namespaces": "test;other", "service-clear-std": "db.example:3000", "what": "ERROR:4:unrecognized command",
		"sets/test":      "ns=test:set=one:objects=3:tombstones=0:truncate_lut=0:stop-writes-count=0;",
		"namespace/nope": "ERROR:4:unknown namespace",
	} {
		if info[name] != want {
			t.Errorf("%s: %q, want %q", name, info[name], want)
		}
	}
	if _, err := c.Get(nil, key(t, "one", 1)); err != nil {
		t.Error(err)
	}
	other, err := as.NewKey("other", "one", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(nil, other); code(err) != "2" {
		t.Errorf("a record of one namespace in the other: %v", err)
	}
	if got := fmt.Sprint(s.Counters()[miniaero.KindRead]); got != "2" {
		t.Errorf("%s reads were counted, want 2", got)
	}
}
