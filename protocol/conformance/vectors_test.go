package conformance

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"

	"bakeoff/service"
)

// asked notes which calls a server is asked for.
type asked struct {
	service.API
	mu    sync.Mutex
	calls map[service.Call]bool
}

func (a *asked) note(c service.Call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls[c] = true
}

func (a *asked) take() map[service.Call]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := a.calls
	a.calls = map[service.Call]bool{}
	return calls
}

func (a *asked) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	a.note(service.CallLogin)
	return a.API.Login(ctx, r)
}

func (a *asked) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	if r.Group == service.KnownGroup && r.Name == service.KnownName {
		a.note(service.CallKnown)
	} else {
		a.note(service.CallDataType)
	}
	return a.API.DataType(ctx, r)
}

func (a *asked) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	a.note(service.CallEcho)
	return a.API.Echo(ctx, p)
}

func (a *asked) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	a.note(service.CallGetFeature)
	return a.API.GetFeature(ctx, p)
}

func (a *asked) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	a.note(service.CallListFeatures)
	return a.API.ListFeatures(ctx, r)
}

func (a *asked) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	a.note(service.CallRecordRoute)
	return a.API.RecordRoute(ctx, points)
}

func (a *asked) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	a.note(service.CallRouteChat)
	return a.API.RouteChat(ctx, notes)
}

// TestCallsOfVectors has each vector run, and compares the calls that reach the server with those that it says it makes.
func TestCallsOfVectors(t *testing.T) {
	api := &asked{API: Probe(rules(t)), calls: map[service.Call]bool{}}
	p, addr := serveLocal(t, api)
	for _, v := range Vectors {
		if err := Check(t.Context(), p, addr, v); err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		made := api.take()
		said := map[service.Call]bool{}
		for _, c := range v.Calls() {
			said[c] = true
		}
		if said[service.CallDataType] { // the published pair is one of all
			delete(made, service.CallKnown)
		}
		if !said[service.CallLogin] { // the one before each vector
			delete(made, service.CallLogin)
		}
		if v.Name == "bytes-too-large" { // it is for the client to refuse, or for the server's end of the transport
			made[service.CallEcho] = true
		}
		if !maps.Equal(made, said) {
			t.Errorf("%s makes the calls %v, and says %v", v.Name, slices.Sorted(maps.Keys(made)), slices.Sorted(maps.Keys(said)))
		}
	}
	for name := range callsOf {
		if !slices.ContainsFunc(Vectors, func(v Vector) bool { return v.Name == name }) {
			t.Errorf("%s: there is no vector of that name", name)
		}
	}
}

// TestAsked has a subject that lacks calls held to the vectors of the others, and to all of those.
func TestAsked(t *testing.T) {
	// Nothing that it lacks is asked of it, not even a login.
	api := &asked{API: knowing{}, calls: map[service.Call]bool{}}
	p, addr := serveLocal(t, api)
	if got := Asked(p, Vectors); len(got) != len(Vectors) {
		t.Errorf("a subject with all calls is asked %d of %d vectors", len(got), len(Vectors))
	}
	p.Calls = []service.Call{service.CallKnown}
	var names []string
	for _, v := range Asked(p, Vectors) {
		names = append(names, v.Name)
	}
	if want := []string{"hit", "refused", "unknown-option"}; !slices.Equal(names, want) {
		t.Errorf("a subject that knows the published pair alone is asked %v, want %v", names, want)
	}
	if found, err := Run(t.Context(), p, addr); err != nil || len(found) > 0 {
		t.Errorf("got %v, %v", found, err)
	}
	if made := api.take(); !maps.Equal(made, map[service.Call]bool{service.CallKnown: true}) {
		t.Errorf("it was asked for %v", made)
	}
}

// knowing has the published pair, and panics otherwise.
type knowing struct{ service.API }

func (knowing) DataType(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
	return service.DataType{Token: r.Auth.Token, CodeID: service.KnownCode, CnName: service.KnownCnName}, nil
}
