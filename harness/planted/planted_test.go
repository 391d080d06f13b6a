package planted

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"bakeoff/service"
)

// still answers everything at once, and says what was called.
type still struct{ last string }

var errStill = errors.New("still")

func (s *still) Login(context.Context, service.LoginRequest) (service.Session, error) {
	s.last = "Login"
	return service.Session{Token: "t"}, errStill
}

func (s *still) DataType(context.Context, service.DataTypeRequest) (service.DataType, error) {
	s.last = "DataType"
	return service.DataType{CodeID: 1}, errStill
}

func (s *still) Echo(context.Context, service.Payload) (service.Payload, error) {
	s.last = "Echo"
	return service.Payload{Text: "t"}, errStill
}

func (s *still) GetFeature(_ context.Context, p service.Point) (service.Feature, error) {
	s.last = "GetFeature"
	return service.Feature{Location: p}, errStill
}

func (s *still) ListFeatures(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
	s.last = "ListFeatures"
	return service.Fail[service.Feature](errStill)
}

func (s *still) RecordRoute(context.Context, iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	s.last = "RecordRoute"
	return service.RouteSummary{PointCount: 1}, errStill
}

func (s *still) RouteChat(context.Context, iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	s.last = "RouteChat"
	return service.Fail[service.RouteNote](errStill)
}

func TestNothingIsNothing(t *testing.T) {
	s := &still{}
	got, err := Extra{}.Around(s)
	if err != nil || got != service.API(s) {
		t.Errorf("%v, %v: want the API itself", got, err)
	}
}

// calls makes every call once, and checks that the answer is the API's own.
func calls(t *testing.T, ctx context.Context, api service.API, s *still, after func(call string)) {
	t.Helper()
	for _, c := range []struct {
		name string
		call func() (any, error)
	}{
		{"Login", func() (any, error) { return api.Login(ctx, service.LoginRequest{}) }},
		{"DataType", func() (any, error) { return api.DataType(ctx, service.DataTypeRequest{}) }},
		{"Echo", func() (any, error) { return api.Echo(ctx, service.Payload{}) }},
		{"GetFeature", func() (any, error) { return api.GetFeature(ctx, service.Point{Latitude: 3}) }},
		{"ListFeatures", func() (any, error) { return service.Collect(api.ListFeatures(ctx, service.Rectangle{})) }},
		{"RecordRoute", func() (any, error) { return api.RecordRoute(ctx, service.All[service.Point](nil)) }},
		{"RouteChat", func() (any, error) { return service.Collect(api.RouteChat(ctx, service.All[service.RouteNote](nil))) }},
	} {
		got, err := c.call()
		if s.last != c.name || !errors.Is(err, errStill) {
			t.Errorf("%s called %q and gave %v, %v", c.name, s.last, got, err)
		}
		after(c.name)
	}
	if n := reflect.TypeFor[service.API]().NumMethod(); n != 7 {
		t.Errorf("the API has %d calls: give those that are new their extra too", n)
	}
}

// In a bubble of synctest time moves only while all wait, so that a delay is exact.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &still{}
		api, err := Extra{Delay: 3 * time.Millisecond}.Around(s)
		if err != nil {
			t.Fatal(err)
		}
		last := time.Now()
		calls(t, t.Context(), api, s, func(call string) {
			if took := time.Since(last); took != 3*time.Millisecond {
				t.Errorf("%s took %v, want 3ms", call, took)
			}
			last = time.Now()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := api.DataType(ctx, service.DataTypeRequest{}); !errors.Is(err, errStill) {
			t.Error(err)
		}
		if took := time.Since(last); took != time.Millisecond {
			t.Errorf("a call whose context ended after 1ms took %v", took)
		}
	})
}

// The thread's own clock says what each call costs. A machine that others use too may be slower in a call than it was when the
// extra was measured out, or the other way round, so that several tries are given.
func TestCPU(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const extra, rounds = 200 * time.Microsecond, 20
	var got time.Duration
	for range 20 {
		s := &still{}
		api, err := Extra{CPU: extra}.Around(s)
		if err != nil {
			t.Fatal(err)
		}
		before, err := threadCPU()
		if err != nil {
			t.Fatal(err)
		}
		for range rounds {
			calls(t, t.Context(), api, s, func(string) {})
		}
		after, err := threadCPU()
		if err != nil {
			t.Fatal(err)
		}
		got = (after - before) / (6 * rounds)
		if got > extra*9/10 && got < extra*12/10 {
			return
		}
	}
	t.Errorf("a call costs %v, want %v", got, extra)
}

// TestWorkIsProportional: twice the extra is twice the work, and what a call costs beside it is nothing to speak of.
func TestWorkIsProportional(t *testing.T) {
	var turns []int
	for _, cpu := range []time.Duration{time.Microsecond, 2 * time.Microsecond, time.Second} {
		api, err := Extra{CPU: cpu}.Around(&still{})
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, api.(*costly).turns)
	}
	// a turn takes six operations that wait for each other: 1 to 10 ns on any processor of today
	if turns[0] < 100 || turns[0] > 1000 || turns[1] < turns[0] || turns[2] < turns[1]*1000 {
		t.Errorf("turns for 1 us, 2 us and 1 s: %v", turns)
	}
}
