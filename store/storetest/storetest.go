// Package storetest is the contract of service.Store as tests. Every implementation runs the same ones, so that
// the rules of the service may rely on nothing that only one database does.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/service"
)

// New makes a store for one test. It may share a database with other tests, or with earlier runs: each test
// uses sets and ids of its own. Advance moves the store's clock on; where the clock is the real one, return
// nil, and what depends on it is skipped by name. The store is closed by Run.
type New func(t *testing.T) (store service.Store, advance func(time.Duration))

// Run holds the stores that newStore makes to the contract.
func Run(t *testing.T, newStore New) {
	for _, c := range contract {
		t.Run(c.name, func(t *testing.T) {
			store, advance := newStore(t)
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			if c.clock && advance == nil {
				t.Skip("the clock of this store can't be moved")
			}
			c.test(t, &env{store, advance, fmt.Sprintf("%s-%d-%d", c.name, time.Now().UnixNano(), runs.Add(1))})
		})
	}
}

var runs atomic.Int64

type env struct {
	service.Store
	advance func(time.Duration)
	prefix  string
}

// key is an id that no other test or run uses.
func (e *env) key(id string) service.Key {
	return service.Key{Set: "storetest", ID: e.prefix + "|" + id}
}

func (e *env) put(t *testing.T, k service.Key, bins service.Bins, ttl time.Duration) {
	t.Helper()
	if err := e.Put(t.Context(), k, bins, ttl); err != nil {
		t.Fatalf("put %v: %v", k, err)
	}
}

// want reads k and compares it; a nil want says that there must be no record.
func (e *env) want(t *testing.T, k service.Key, want service.Bins) service.Record {
	t.Helper()
	r, err := e.Get(t.Context(), k)
	if want == nil {
		if !errors.Is(err, service.ErrNotFound) {
			t.Fatalf("get %v: got %v, %v, want ErrNotFound", k, r.Bins, err)
		}
		return r
	}
	if err != nil {
		t.Fatalf("get %v: %v", k, err)
	}
	if d := cmp.Diff(want, r.Bins); d != "" {
		t.Fatalf("get %v (-want +got):\n%s", k, d)
	}
	return r
}

func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

var contract = []struct {
	name  string
	clock bool // moves the clock
	test  func(t *testing.T, e *env)
}{
	{"missing", false, missing},
	{"values", false, values},
	{"put replaces", false, putReplaces},
	{"bad bins", false, badBins},
	{"create", false, create},
	{"create race", false, createRace},
	{"get many", false, getMany},
	{"append", false, appendKeeps},
	{"append race", false, appendRace},
	{"delete", false, deletes},
	{"copies", false, copies},
	{"ended context", false, endedContext},
	{"describe", false, describe},
	{"expiry", true, expiry},
	{"expiry and writes", true, expiryAndWrites},
}

func missing(t *testing.T, e *env) {
	k := e.key("none")
	e.want(t, k, nil)
	is(t, "delete of none", e.Delete(t.Context(), k, 0), service.ErrNotFound)
	is(t, "delete of none at a generation", e.Delete(t.Context(), k, 1), service.ErrNotFound)
	e.put(t, k, service.Bins{"a": "x"}, 0)
	e.want(t, service.Key{Set: "storetest2", ID: k.ID}, nil) // the same id in another set
}

func values(t *testing.T, e *env) {
	for i, bins := range []service.Bins{
		{"cnname": "語音接通", "code_id": int64(101)},
		{"n": int64(math.MaxInt64)},
		{"n": int64(math.MinInt64)},
		{"n": int64(1<<53 + 1)}, // lost by a float64
		{"n": int64(0), "s": ""},
		{"list": []string{"b", "a", "", "語音"}},
		{"s": strings.Repeat("x", 100_000)},
	} {
		k := e.key(fmt.Sprintf("鍵|%d", i))
		e.put(t, k, bins, 0)
		if g := e.want(t, k, bins).Generation; g != 1 {
			t.Errorf("generation of a new record: got %d, want 1", g)
		}
	}
}

func putReplaces(t *testing.T, e *env) {
	k := e.key("a")
	e.put(t, k, service.Bins{"a": int64(1), "b": "gone after the next"}, 0)
	e.put(t, k, service.Bins{"a": "another type"}, 0)
	if g := e.want(t, k, service.Bins{"a": "another type"}).Generation; g != 2 {
		t.Errorf("generation after the second put: got %d, want 2", g)
	}
}

// badBins must be refused by all alike, or a rule that works over one store fails over the next.
func badBins(t *testing.T, e *env) {
	for i, bins := range []service.Bins{nil, {}, {"n": 1}, {"n": 1.5}, {"b": []byte("x")}, {"a": "fine", "z": nil}} {
		k := e.key(fmt.Sprint(i))
		var se *service.Error
		if err := e.Put(t.Context(), k, bins, 0); !errors.As(err, &se) || se.Code != service.Internal {
			t.Errorf("put of %#v: got error %v, want a service.Error with code internal", bins, err)
		}
		if err := e.Create(t.Context(), k, bins, 0); !errors.As(err, &se) || se.Code != service.Internal {
			t.Errorf("create of %#v: got error %v, want a service.Error with code internal", bins, err)
		}
		e.want(t, k, nil)
	}
}

func create(t *testing.T, e *env) {
	k, bins := e.key("a"), service.Bins{"owner": "first"}
	is(t, "create", e.Create(t.Context(), k, bins, 0), nil)
	is(t, "second create", e.Create(t.Context(), k, service.Bins{"owner": "second"}, 0), service.ErrExists)
	if g := e.want(t, k, bins).Generation; g != 1 {
		t.Errorf("generation after a refused create: got %d, want 1", g)
	}
	is(t, "delete", e.Delete(t.Context(), k, 1), nil)
	is(t, "create after delete", e.Create(t.Context(), k, service.Bins{"owner": "third"}, time.Minute), nil)
	e.want(t, k, service.Bins{"owner": "third"})
}

func createRace(t *testing.T, e *env) {
	const racers = 32
	for round := range 8 {
		k := e.key(fmt.Sprint(round))
		var won atomic.Int64
		var winner atomic.Value
		together(racers, func(i int) {
			me := fmt.Sprint("racer ", i)
			switch err := e.Create(t.Context(), k, service.Bins{"owner": me}, time.Minute); {
			case err == nil:
				won.Add(1)
				winner.Store(me)
			case !errors.Is(err, service.ErrExists):
				t.Errorf("create of racer %d: %v", i, err)
			}
		})
		if won.Load() != 1 {
			t.Fatalf("round %d: %d of %d racing creates succeeded, want 1", round, won.Load(), racers)
		}
		e.want(t, k, service.Bins{"owner": winner.Load()})
	}
}

func getMany(t *testing.T, e *env) {
	none, err := e.GetMany(t.Context(), nil)
	if err != nil || len(none) != 0 {
		t.Errorf("get of no keys: got %v, %v, want nothing", none, err)
	}
	const n = 300
	keys := make([]service.Key, 0, n+1)
	want := make([]service.Bins, 0, n+1)
	for i := range n {
		k := e.key(fmt.Sprint(i))
		keys = append(keys, k)
		if i%3 == 0 { // a third is missing
			want = append(want, nil)
			continue
		}
		bins := service.Bins{"n": int64(i)}
		e.put(t, k, bins, 0)
		want = append(want, bins)
	}
	keys, want = append(keys, keys[1]), append(want, want[1]) // a key twice is answered twice
	slices.Reverse(keys)
	slices.Reverse(want)
	got, err := e.GetMany(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(keys) {
		t.Fatalf("%d records for %d keys", len(got), len(keys))
	}
	for i, r := range got {
		if d := cmp.Diff(want[i], r.Bins); d != "" {
			t.Errorf("record %d, %v (-want +got):\n%s", i, keys[i], d)
		}
		if want[i] != nil && r.Generation != 1 {
			t.Errorf("record %d: generation %d, want 1", i, r.Generation)
		}
	}
}

func appendKeeps(t *testing.T, e *env) {
	k := e.key("notes")
	for i, want := range [][]string{{"0"}, {"0", "1"}, {"0", "1", "2"}, {"1", "2", "3"}, {"2", "3", "4"}} {
		got, err := e.Append(t.Context(), k, "notes", fmt.Sprint(i), 3, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("append %d of at most 3 (-want +got):\n%s", i, d)
		}
	}
	if g := e.want(t, k, service.Bins{"notes": []string{"2", "3", "4"}}).Generation; g != 5 {
		t.Errorf("generation after 5 appends: got %d, want 5", g)
	}
	got, err := e.Append(t.Context(), k, "notes", "", 1, time.Hour) // 3 kept so far, fewer from now on
	if err != nil || !slices.Equal(got, []string{""}) {
		t.Fatalf("append that keeps 1: got %q, %v, want one empty value", got, err)
	}

	mixed := e.key("mixed")
	e.put(t, mixed, service.Bins{"name": "stays", "n": int64(1)}, 0)
	if _, err := e.Append(t.Context(), mixed, "notes", "x", 3, 0); err != nil {
		t.Fatal(err)
	}
	all := service.Bins{"name": "stays", "n": int64(1), "notes": []string{"x"}}
	e.want(t, mixed, all)
	var se *service.Error
	if _, err := e.Append(t.Context(), mixed, "name", "x", 3, 0); !errors.As(err, &se) || se.Code != service.Internal {
		t.Errorf("append to a string: got error %v, want a service.Error with code internal", err)
	}
	if _, err := e.Append(t.Context(), mixed, "notes", "x", 0, 0); !errors.As(err, &se) || se.Code != service.Internal {
		t.Errorf("append that keeps nothing: got error %v, want a service.Error with code internal", err)
	}
	e.want(t, mixed, all)
}

func appendRace(t *testing.T, e *env) {
	const racers, each = 16, 8
	all, few := e.key("all"), e.key("few")
	together(racers, func(i int) {
		for j := range each {
			v := fmt.Sprintf("%d.%d", i, j)
			for k, keep := range map[service.Key]int{all: racers * each, few: 10} {
				got, err := e.Append(t.Context(), k, "notes", v, keep, time.Hour)
				if err != nil {
					t.Errorf("append: %v", err)
					return
				}
				if len(got) > keep || got[len(got)-1] != v {
					t.Errorf("append of %s, keeping %d: got %d values, %q last", v, keep, len(got), got[len(got)-1])
				}
			}
		}
	})
	r, err := e.Get(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(r.Bins["notes"].([]string))
	slices.Sort(got)
	if n := len(slices.Compact(got)); n != racers*each || r.Generation != racers*each {
		t.Errorf("%d different values at generation %d after %d appends: some were lost", n, r.Generation, racers*each)
	}
}

func deletes(t *testing.T, e *env) {
	k := e.key("a")
	e.put(t, k, service.Bins{"a": int64(1)}, 0)
	e.put(t, k, service.Bins{"a": int64(2)}, 0)
	is(t, "delete at an old generation", e.Delete(t.Context(), k, 1), service.ErrGeneration)
	is(t, "delete at a coming generation", e.Delete(t.Context(), k, 3), service.ErrGeneration)
	e.want(t, k, service.Bins{"a": int64(2)})
	is(t, "delete at its generation", e.Delete(t.Context(), k, 2), nil)
	e.want(t, k, nil)
	is(t, "second delete", e.Delete(t.Context(), k, 2), service.ErrNotFound)
	e.put(t, k, service.Bins{"a": int64(3)}, 0)
	is(t, "delete at any generation", e.Delete(t.Context(), k, 0), nil)
	e.want(t, k, nil)
}

// copies: what the caller does to its own values afterwards must not reach the record, nor must a write reach a
// record that was handed out before.
func copies(t *testing.T, e *env) {
	k, list := e.key("a"), []string{"1", "2"}
	bins := service.Bins{"list": list, "n": int64(1)}
	e.put(t, k, bins, 0)
	list[0], bins["n"] = "changed", int64(2)
	want := service.Bins{"list": []string{"1", "2"}, "n": int64(1)}
	before := e.want(t, k, want)
	if _, err := e.Append(t.Context(), k, "list", "3", 2, 0); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, before.Bins); d != "" {
		t.Errorf("an append changed a record that was handed out (-want +got):\n%s", d)
	}
}

func endedContext(t *testing.T, e *env) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k, bins := e.key("a"), service.Bins{"a": "x"}
	_, errGet := e.Get(ctx, k)
	_, errMany := e.GetMany(ctx, []service.Key{k})
	_, errAppend := e.Append(ctx, k, "notes", "x", 3, 0)
	for what, err := range map[string]error{
		"get": errGet, "get many": errMany, "append": errAppend,
		"put": e.Put(ctx, k, bins, 0), "create": e.Create(ctx, k, bins, 0), "delete": e.Delete(ctx, k, 0),
	} {
		is(t, what+" with a cancelled context", err, context.Canceled)
	}
	e.want(t, k, nil)
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err := e.Get(late, k)
	is(t, "get after the deadline", err, context.DeadlineExceeded)
}

func describe(t *testing.T, e *env) {
	if e.Describe() == "" {
		t.Error("the store has no name for the result file")
	}
}

// together runs n goroutines that start as nearly at once as they can, and waits for them.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}
