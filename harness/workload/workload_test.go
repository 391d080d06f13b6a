package workload

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bakeoff/service"
	"bakeoff/store/memory"
)

// newAPI is the real service over the store in memory.
func newAPI(t *testing.T, c service.Config) *service.Service {
	t.Helper()
	s, err := service.New(t.Context(), memory.New(time.Now), c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func settings(worker int) Settings {
	return Settings{Seed: 7, Worker: worker, ClientID: service.DemoClientID, Secret: service.DemoSecret}
}

func TestEveryWorkloadIsAnsweredRight(t *testing.T) {
	for _, auth := range []bool{false, true} {
		api := newAPI(t, service.Config{Auth: auth})
		for _, w := range All {
			t.Run(fmt.Sprintf("%s/auth=%v", w.Name, auth), func(t *testing.T) {
				if auth && w.NoAuth != "" {
					s := settings(0)
					s.Auth = true
					if _, err := w.Start(t.Context(), api, s); err == nil || err.Error() != w.NoAuth {
						t.Errorf("with a token: %v, want %q", err, w.NoAuth)
					}
					return
				}
				var all sync.WaitGroup
				for worker := range 8 {
					all.Go(func() {
						s := settings(worker)
						s.Auth = auth
						calls, err := w.Start(t.Context(), api, s)
						if err != nil || len(calls) != len(w.Steps) {
							t.Errorf("%d calls for %d steps, %v", len(calls), len(w.Steps), err)
							return
						}
						for n := range uint64(50) {
							for step, call := range calls {
								if err := call(t.Context(), n); err != nil {
									t.Errorf("iteration %d, step %s: %v", n, w.Steps[step], err)
									return
								}
							}
						}
					})
				}
				all.Wait()
			})
		}
	}
}

func TestWorkloadsAreDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range All {
		if w.Name == "" || w.Doc == "" || len(w.Steps) == 0 || w.Messages < 1 || w.Start == nil || seen[w.Name] {
			t.Errorf("%+v: a field is empty, or the name is there twice", w)
		}
		seen[w.Name] = true
	}
}

// liar passes calls on and spoils their answers.
type liar struct{ service.API }

func (l liar) Login(context.Context, service.LoginRequest) (service.Session, error) {
	return service.Session{}, nil // in, but without a token
}

func (l liar) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	d, err := l.API.DataType(ctx, r)
	d.CodeID++
	return d, err
}

func (l liar) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	if p, err := l.API.Echo(ctx, p); err != nil || len(p.Data) == 0 {
		return service.Payload{Text: p.Text + "?"}, err
	}
	return service.Payload{Data: p.Data[1:]}, nil
}

func (l liar) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	f, err := l.API.GetFeature(ctx, p)
	f.Name += "?"
	return f, err
}

func (l liar) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	s, err := l.API.RecordRoute(ctx, points)
	s.Distance--
	return s, err
}

func (l liar) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	all, _ := service.Collect(l.API.ListFeatures(ctx, r))
	return service.All(all[1:])
}

func (l liar) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	all, _ := service.Collect(l.API.RouteChat(ctx, notes))
	return service.All(all[:len(all)-1])
}

func TestAWrongAnswerIsAFailure(t *testing.T) {
	for _, w := range All {
		calls, err := w.Start(t.Context(), liar{newAPI(t, service.Config{})}, settings(0))
		if err != nil {
			t.Fatal(err)
		}
		var class interface{ Class() string }
		for i, call := range calls {
			if err := call(t.Context(), 0); !errors.As(err, &class) || class.Class() != "wrong_answer" {
				t.Errorf("%s, %s: %v", w.Name, w.Steps[i], err)
			}
		}
	}
}

// broken fails every call.
type broken struct{ service.API }

var errBroken = errors.New("broken")

func (broken) Login(context.Context, service.LoginRequest) (service.Session, error) {
	return service.Session{}, errBroken
}
func (broken) DataType(context.Context, service.DataTypeRequest) (service.DataType, error) {
	return service.DataType{}, errBroken
}
func (broken) Echo(context.Context, service.Payload) (service.Payload, error) {
	return service.Payload{}, errBroken
}
func (broken) GetFeature(context.Context, service.Point) (service.Feature, error) {
	return service.Feature{}, errBroken
}
func (broken) RecordRoute(context.Context, iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	return service.RouteSummary{}, errBroken
}
func (broken) ListFeatures(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
	return service.Fail[service.Feature](errBroken)
}
func (broken) RouteChat(context.Context, iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return service.Fail[service.RouteNote](errBroken)
}

func TestAFailureIsPassedOn(t *testing.T) {
	for _, w := range All {
		calls, err := w.Start(t.Context(), broken{}, settings(0))
		if err != nil {
			t.Fatal(err)
		}
		for i, call := range calls {
			if err := call(t.Context(), 0); !errors.Is(err, errBroken) {
				t.Errorf("%s, %s: %v", w.Name, w.Steps[i], err)
			}
		}
	}
	s := settings(0)
	s.Auth = true
	_, err := DataType.Start(t.Context(), broken{}, s)
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), `login as "bakeoff"`) {
		t.Errorf("login: %v", err)
	}
}

// seen notes the names that are asked for, and the tokens.
type seen struct {
	service.API
	names, tokens []string
}

func (s *seen) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	s.names, s.tokens = append(s.names, r.Name), append(s.tokens, r.Auth.Token)
	return s.API.DataType(ctx, r)
}

func TestChoicesRepeatWithTheSeedAndDifferByWorker(t *testing.T) {
	draw := func(seed uint64, worker int) []string {
		api := &seen{API: newAPI(t, service.Config{})}
		s := settings(worker)
		s.Seed = seed
		calls, err := DataTypeCatalogue.Start(t.Context(), api, s)
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint64(20) {
			if err := calls[0](t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		return api.names
	}
	first := draw(1, 0)
	if !slices.Equal(first, draw(1, 0)) {
		t.Error("the same seed and worker drew other keys")
	}
	if slices.Equal(first, draw(1, 1)) || slices.Equal(first, draw(2, 0)) {
		t.Error("another seed or worker drew the same keys")
	}
}

func TestARenewedTokenIsUsedFromThenOn(t *testing.T) {
	now := time.Now()
	api := &seen{API: newAPI(t, service.Config{Auth: true, TokenTTL: time.Minute, Clock: func() time.Time { return now }})}
	s := settings(0)
	s.Auth = true
	calls, err := DataType.Start(t.Context(), api, s)
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(10) { // 10 x 20 s: more than three lives of a token
		if err := calls[0](t.Context(), n); err != nil {
			t.Fatalf("call %d: %v", n, err)
		}
		now = now.Add(20 * time.Second)
	}
	if distinct := len(slices.Compact(api.tokens)); distinct < 4 { // renewed past half a minute: every 40 s
		t.Errorf("%d tokens in 200 s", distinct)
	}
}

// The steps of a scenario hand the token on: one that the server has renewed goes with the next step, and a new iteration logs in anew.
func TestAScenarioCarriesItsToken(t *testing.T) {
	now := time.Now()
	api := &seen{API: newAPI(t, service.Config{Auth: true, TokenTTL: time.Minute, Clock: func() time.Time { return now }})}
	calls, err := Scenario.Start(t.Context(), api, settings(0))
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(2) {
		for i, call := range calls {
			if err := call(t.Context(), n); err != nil {
				t.Fatalf("iteration %d, %s: %v", n, Scenario.Steps[i], err)
			}
			now = now.Add(31 * time.Second) // each token is past half of its life at the next step
		}
	}
	if distinct := len(slices.Compact(api.tokens)); distinct != 4 {
		t.Errorf("%d tokens in two sessions of two look-ups with one each", distinct)
	}
	if api.names[0] != service.KnownName || api.names[2] != service.KnownName {
		t.Errorf("verification looks up %q", api.names)
	}
}

func TestFind(t *testing.T) {
	if w, err := Find("routechat"); err != nil || w.Name != "routechat" {
		t.Errorf("%v, %v", w.Name, err)
	}
	want := `unknown workload "datatpye": did you mean "datatype"? ` +
		`(datatype, datatype-catalogue, getfeature, recordroute, recordroute-100, listfeatures, routechat, scenario, ` +
		`payload-0, payload-100, payload-1k, payload-10k, payload-100k, payload-1m, ` +
		`payload-100-bytes, payload-1k-bytes, payload-10k-bytes, payload-100k-bytes, payload-1m-bytes)`
	if _, err := Find("datatpye"); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// Calls that are said to be all workers' are made by many at the same time: the race detector sees what they keep.
func TestSharedCallsKeepNothing(t *testing.T) {
	api := newAPI(t, service.Config{})
	shared := 0
	for _, w := range All {
		if !w.Shared {
			continue
		}
		shared++
		calls, err := w.Start(t.Context(), api, settings(0))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for worker := range uint64(8) {
			all.Go(func() {
				for n := range uint64(50) {
					for step, call := range calls {
						if err := call(t.Context(), 8*n+worker); err != nil {
							t.Errorf("%s, step %s: %v", w.Name, w.Steps[step], err)
							return
						}
					}
				}
			})
		}
		all.Wait()
	}
	if shared == 0 {
		t.Error("no workload is shared")
	}
}
