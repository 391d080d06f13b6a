package storetest

import (
	"testing"
	"time"

	"bakeoff/service"
)

// expiry leaves a second on each side, since a database keeps time in whole seconds.
func expiry(t *testing.T, e *env) {
	short, long, never := e.key("short"), e.key("long"), e.key("never")
	bins := service.Bins{"a": "x"}
	e.put(t, short, bins, 2500*time.Millisecond) // rounded up to 3 s
	is(t, "create", e.Create(t.Context(), long, bins, 10*time.Second), nil)
	e.put(t, never, bins, 0)
	e.advance(2 * time.Second)
	e.want(t, short, bins)
	e.advance(2 * time.Second) // at 4 s
	e.want(t, short, nil)
	e.want(t, long, bins)
	many, err := e.GetMany(t.Context(), []service.Key{short, long, never})
	if err != nil {
		t.Fatal(err)
	}
	if many[0].Bins != nil || many[1].Bins == nil || many[2].Bins == nil {
		t.Errorf("get many at 4 s: got %v, want the first alone expired", many)
	}
	e.advance(7 * time.Second) // at 11 s
	e.want(t, long, nil)
	e.advance(365 * 24 * time.Hour)
	e.want(t, never, bins)
}

func expiryAndWrites(t *testing.T, e *env) {
	created, put, appended, deleted, renewed, kept := e.key("created"), e.key("put"), e.key("appended"), e.key("deleted"), e.key("renewed"), e.key("kept")
	bins := service.Bins{"owner": "first"}
	for _, k := range []service.Key{created, put, appended, deleted, renewed, kept} {
		e.put(t, k, bins, 5*time.Second)
	}
	e.advance(3 * time.Second)
	if _, err := e.Append(t.Context(), renewed, "notes", "x", 3, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	e.put(t, kept, bins, 0) // the ttl of the last write holds: for ever
	e.advance(4 * time.Second)

	e.want(t, renewed, service.Bins{"owner": "first", "notes": []string{"x"}})
	e.want(t, kept, bins)
	is(t, "create over an expired record", e.Create(t.Context(), created, service.Bins{"owner": "second"}, time.Minute), nil)
	e.want(t, created, service.Bins{"owner": "second"})
	e.put(t, put, service.Bins{"b": "y"}, 0)
	e.want(t, put, service.Bins{"b": "y"})
	if _, err := e.Append(t.Context(), appended, "notes", "x", 3, time.Minute); err != nil {
		t.Fatal(err)
	}
	e.want(t, appended, service.Bins{"notes": []string{"x"}})
	is(t, "delete of an expired record", e.Delete(t.Context(), deleted, 0), service.ErrNotFound)
	e.advance(3 * time.Second)
	e.want(t, renewed, nil)
}
