package service_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bakeoff/service"
	"bakeoff/store/memory"
)

func pt(lat, lon int32) service.Point { return service.Point{Latitude: lat, Longitude: lon} }

func TestGetFeature(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	for _, want := range append(service.Places(),
		service.Feature{Location: pt(0, 0)},
		service.Feature{Location: pt(90_0000000, 180_0000000)},
		service.Feature{Location: pt(-90_0000000, -180_0000000)},
	) {
		if got, err := s.GetFeature(t.Context(), want.Location); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	for _, p := range []service.Point{pt(90_0000001, 0), pt(-90_0000001, 0), pt(math.MinInt32, 0), pt(0, 180_0000001), pt(0, -180_0000001), pt(0, math.MaxInt32)} {
		_, err := s.GetFeature(t.Context(), p)
		wantError(t, fmt.Sprint(p), err, service.InvalidArgument, "")
	}
	// It is the store that is asked.
	p := service.Places()[0]
	key := service.Key{Set: service.FeatureSet, ID: fmt.Sprintf("%d,%d", p.Location.Latitude, p.Location.Longitude)}
	if err := store.Put(t.Context(), key, service.Bins{"name": "renamed"}, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := s.GetFeature(t.Context(), p.Location); err != nil || got.Name != "renamed" {
		t.Errorf("a record that was changed: got %+v, %v", got, err)
	}
	if err := store.Put(t.Context(), key, service.Bins{"name": int64(1)}, 0); err != nil {
		t.Fatal(err)
	}
	_, err := s.GetFeature(t.Context(), p.Location)
	wantError(t, "a record without a name", err, service.Internal, "")
}

// TestSeed: a restart writes nothing, and leaves what others wrote.
func TestSeed(t *testing.T) {
	store := &spy{Store: memory.New(nil)}
	newService(t, store, service.Config{})
	key := service.Key{Set: service.FeatureSet, ID: "250478000,1215170000"}
	rec, err := store.Get(t.Context(), key)
	want := service.Bins{"name": "Taipei Main Station", "lat": int64(25_0478000), "lon": int64(121_5170000)}
	if err != nil || !cmp.Equal(rec.Bins, want) {
		t.Errorf("%v: got %v, %v, want %v", key, rec.Bins, err, want)
	}
	if err := store.Put(t.Context(), key, service.Bins{"name": "ours"}, 0); err != nil {
		t.Fatal(err)
	}
	store.create = func(k service.Key) error {
		t.Errorf("the second start creates %v", k)
		return nil
	}
	s := newService(t, store, service.Config{})
	if f, err := s.GetFeature(t.Context(), pt(25_0478000, 121_5170000)); err != nil || f.Name != "ours" {
		t.Errorf("after a restart: got %+v, %v, want what was written before", f, err)
	}

	down := service.Errorf(service.Unavailable, "store: down")
	for what, store := range map[string]*spy{
		"read":  {Store: memory.New(nil), many: func([]service.Key) error { return down }},
		"write": {Store: memory.New(nil), create: func(service.Key) error { return down }},
	} {
		if _, err := service.New(t.Context(), store, service.Config{}); !errors.Is(err, error(down)) {
			t.Errorf("start over a store that fails to %s: got error %v, want %v", what, err, down)
		}
	}
}

func TestListFeatures(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	all := service.Places()
	world := service.Rectangle{Lo: pt(-90_0000000, -180_0000000), Hi: pt(90_0000000, 180_0000000)}
	var batches []int
	store.many = func(keys []service.Key) error {
		batches = append(batches, len(keys))
		return nil
	}
	got, err := service.Collect(s.ListFeatures(t.Context(), world))
	if d := cmp.Diff(all, got); err != nil || d != "" {
		t.Errorf("the world: error %v (-want +got):\n%s", err, d)
	}
	if slices.Max(batches) > 128 || len(batches) != (len(all)+127)/128 {
		t.Errorf("%d features were read in batches of %v, want at most 128 each", len(all), batches)
	}
	for n := 1; n <= 100; n++ {
		r, ok := service.Area(n)
		if !ok {
			t.Fatalf("no area with %d places", n)
		}
		got, err := service.Collect(s.ListFeatures(t.Context(), r))
		if err != nil || len(got) != n {
			t.Errorf("the area of %d places, %+v: got %d, %v", n, r, len(got), err)
		}
		for _, f := range got {
			if f.Location.Latitude < r.Lo.Latitude || f.Location.Latitude > r.Hi.Latitude || f.Location.Longitude < r.Lo.Longitude || f.Location.Longitude > r.Hi.Longitude {
				t.Errorf("%+v lies outside of %+v", f, r)
			}
		}
	}
	if r, ok := service.Area(0); !ok {
		t.Errorf("no area without places: %+v", r)
	}
	if r, ok := service.Area(len(all) + 1); ok {
		t.Errorf("an area with more places than there are: %+v", r)
	}

	_, err = service.Collect(s.ListFeatures(t.Context(), service.Rectangle{Lo: pt(0, 0), Hi: pt(90_0000001, 0)}))
	wantError(t, "a corner off the earth", err, service.InvalidArgument, "latitude 900000001 is out of range: it must lie within ±900000000")

	read := 0
	batches = nil
	for range s.ListFeatures(t.Context(), world) {
		if read++; read == 3 {
			break
		}
	}
	if read != 3 || len(batches) != 1 {
		t.Errorf("a reader that stopped after 3: got %d features from batches %v, want one batch", read, batches)
	}
}

func TestListFeaturesWhenTheStoreChanges(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	r, _ := service.Area(3)
	before, err := service.Collect(s.ListFeatures(t.Context(), r))
	if err != nil {
		t.Fatal(err)
	}
	gone := before[1].Location
	if err := store.Delete(t.Context(), service.Key{Set: service.FeatureSet, ID: fmt.Sprintf("%d,%d", gone.Latitude, gone.Longitude)}, 0); err != nil {
		t.Fatal(err)
	}
	after, err := service.Collect(s.ListFeatures(t.Context(), r))
	if want := []service.Feature{before[0], before[2]}; err != nil || !slices.Equal(after, want) {
		t.Errorf("after one was deleted: got %v, %v, want %v", after, err, want)
	}
	store.many = func([]service.Key) error { return service.Errorf(service.Unavailable, "store: down") }
	after, err = service.Collect(s.ListFeatures(t.Context(), r))
	wantError(t, "the store is down", err, service.Unavailable, "store: down")
	if len(after) != 0 {
		t.Errorf("the store is down: got %v besides", after)
	}
}

func TestRecordRoute(t *testing.T) {
	s, _, _ := fresh(t, service.Config{})
	taipei := pt(25_0478000, 121_5170000)
	for _, c := range []struct {
		what   string
		points []service.Point
		want   service.RouteSummary
	}{
		{"no point", nil, service.RouteSummary{}},
		{"one point, of no feature", []service.Point{pt(1, 1)}, service.RouteSummary{PointCount: 1}},
		{"the published pair", []service.Point{pt(-46_0000000, -116_0000000), pt(72_0000000, -54_0000000)}, service.RouteSummary{PointCount: 2, Distance: 13975745}},
		{"its way back", []service.Point{pt(72_0000000, -54_0000000), pt(-46_0000000, -116_0000000)}, service.RouteSummary{PointCount: 2, Distance: 13975745}},
		// One degree of a meridian is 6371000 m × π / 180 = 111194.93 m.
		{"one degree north", []service.Point{pt(0, 0), pt(1_0000000, 0)}, service.RouteSummary{PointCount: 2, Distance: 111194}},
		// Each leg is cut to 111194 before it is added: 333582 and not 333584.
		{"three degrees in three legs", []service.Point{pt(0, 0), pt(1_0000000, 0), pt(2_0000000, 0), pt(3_0000000, 0)}, service.RouteSummary{PointCount: 4, Distance: 3 * 111194}},
		// Half of the circumference, 6371000 m × π = 20015086.8 m, where rounding must not make the root of a negative number.
		{"pole to pole", []service.Point{pt(-90_0000000, 0), pt(90_0000000, 0)}, service.RouteSummary{PointCount: 2, FeatureCount: 1, Distance: 20015086}},
		{"the other side of the equator", []service.Point{pt(0, 0), pt(0, 180_0000000)}, service.RouteSummary{PointCount: 2, Distance: 20015086}},
		{"across the date line, two degrees", []service.Point{pt(0, 179_0000000), pt(0, -179_0000000)}, service.RouteSummary{PointCount: 2, Distance: 222389}},
		{"a place twice counts twice", []service.Point{taipei, taipei, taipei}, service.RouteSummary{PointCount: 3, FeatureCount: 3}},
	} {
		got, err := s.RecordRoute(t.Context(), service.All(c.points))
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.what, got, err, c.want)
		}
	}
}

// TestRecordRouteIsConstantInMemory sends a route that is made as it is read, across the chunks of the store.
func TestRecordRouteIsConstantInMemory(t *testing.T) {
	const n = 128*1000 + 1
	s, store, _ := fresh(t, service.Config{})
	sent, asked, most := 0, 0, 0
	store.many = func(keys []service.Key) error {
		asked += len(keys)
		most = max(most, len(keys), sent-asked+len(keys))
		return nil
	}
	place := service.Places()[0].Location
	got, err := s.RecordRoute(t.Context(), func(yield func(service.Point, error) bool) {
		for range n {
			if sent++; !yield(place, nil) {
				return
			}
		}
	})
	if want := (service.RouteSummary{PointCount: n, FeatureCount: n}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if asked != n || most > 128 {
		t.Errorf("%d points were looked up, at most %d held at a time; want %d and 128", asked, most, n)
	}
}

func TestRecordRouteSaturates(t *testing.T) {
	s, _, _ := fresh(t, service.Config{})
	// 108 legs of 20015086 m are 2161629288 m: more than the largest int32, 2147483647.
	points := make([]service.Point, 109)
	for i := range points {
		points[i] = pt(0, int32(i%2)*180_0000000)
	}
	got, err := s.RecordRoute(t.Context(), service.All(points))
	if err != nil || got.Distance != math.MaxInt32 {
		t.Errorf("distance: got %d, %v, want %d", got.Distance, err, math.MaxInt32)
	}
}

func TestRecordRouteElapsed(t *testing.T) {
	for _, c := range []struct {
		gaps []time.Duration // before each point
		want int32
	}{
		{[]time.Duration{time.Hour}, 0}, // from the first point, not from the call
		{[]time.Duration{0, 999 * time.Millisecond}, 0},
		{[]time.Duration{0, 700 * time.Millisecond, 300 * time.Millisecond}, 1},
		{[]time.Duration{0, 90 * time.Second, 1900 * time.Millisecond}, 91},
		{[]time.Duration{0, 100 * 365 * 24 * time.Hour}, math.MaxInt32}, // 3153600000 s
	} {
		s, _, clk := fresh(t, service.Config{})
		got, err := s.RecordRoute(t.Context(), func(yield func(service.Point, error) bool) {
			for _, gap := range c.gaps {
				clk.Advance(gap)
				if !yield(pt(0, 0), nil) {
					return
				}
			}
			clk.Advance(time.Hour) // after the last point
		})
		if err != nil || got.ElapsedTime != c.want {
			t.Errorf("points after %v: got %d s, %v, want %d s", c.gaps, got.ElapsedTime, err, c.want)
		}
	}
}

func TestRecordRouteFails(t *testing.T) {
	own := errors.New("the caller's own")
	s, store, _ := fresh(t, service.Config{})
	_, err := s.RecordRoute(t.Context(), then([]service.Point{pt(1, 1)}, own))
	if err != own {
		t.Errorf("an error in the sequence: got %v, want that very error", err)
	}
	_, err = s.RecordRoute(t.Context(), service.All([]service.Point{pt(1, 1), pt(0, 180_0000001)}))
	wantError(t, "a point off the earth", err, service.InvalidArgument, "longitude 1800000001 is out of range: it must lie within ±1800000000")
	store.many = func([]service.Key) error { return service.Errorf(service.Unavailable, "store: down") }
	_, err = s.RecordRoute(t.Context(), service.All([]service.Point{pt(1, 1)}))
	wantError(t, "the store is down at the end", err, service.Unavailable, "store: down")
	_, err = s.RecordRoute(t.Context(), service.All(make([]service.Point, 200)))
	wantError(t, "the store is down in the middle", err, service.Unavailable, "store: down")
	store.many = nil
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = s.RecordRoute(ctx, service.All([]service.Point{pt(1, 1)})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got error %v, want context.Canceled", err)
	}
	// What a failed call has left behind does not reach the next.
	got, err := s.RecordRoute(t.Context(), service.All([]service.Point{pt(1, 1)}))
	if want := (service.RouteSummary{PointCount: 1}); err != nil || got != want {
		t.Errorf("the next call: got %+v, %v, want %+v", got, err, want)
	}
}

// then is a sequence that ends with an error.
func then[T any](values []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v := range service.All(values) {
			if !yield(v, nil) {
				return
			}
		}
		var none T
		yield(none, err)
	}
}

func TestRouteChat(t *testing.T) {
	s, _, clk := fresh(t, service.Config{NotesKept: 3})
	a, b := pt(1, 2), pt(1, -2)
	note := func(p service.Point, m string) service.RouteNote { return service.RouteNote{Location: p, Message: m} }
	got, err := service.Collect(s.RouteChat(t.Context(), service.All([]service.RouteNote{
		note(a, "1"), note(b, "一"), note(a, "2"), note(a, "3"), note(a, "4"), note(b, ""),
	})))
	want := []service.RouteNote{
		note(a, "1"),
		note(b, "一"),
		note(a, "1"), note(a, "2"),
		note(a, "1"), note(a, "2"), note(a, "3"),
		note(a, "2"), note(a, "3"), note(a, "4"), // the last three are kept
		note(b, "一"), note(b, ""),
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("error %v (-want +got):\n%s", err, d)
	}
	clk.Advance(6*time.Hour - time.Second)
	if got, err = service.Collect(s.RouteChat(t.Context(), service.All([]service.RouteNote{note(b, "x")}))); err != nil || len(got) != 3 {
		t.Errorf("just before 6 hours: got %v, %v, want the two of before and the new one", got, err)
	}
	clk.Advance(6 * time.Hour)
	if got, err = service.Collect(s.RouteChat(t.Context(), service.All([]service.RouteNote{note(b, "y")}))); err != nil || len(got) != 1 {
		t.Errorf("6 hours after the last note: got %v, %v, want the new one alone", got, err)
	}
}

func TestRouteChatAnswersAsItGoes(t *testing.T) {
	s, store, _ := fresh(t, service.Config{})
	appended := 0
	store.append = func(service.Key) error {
		appended++
		return nil
	}
	sent, read := 0, 0
	for range s.RouteChat(t.Context(), func(yield func(service.RouteNote, error) bool) {
		for i := range int32(100) {
			if sent++; !yield(service.RouteNote{Location: pt(i, i)}, nil) {
				return
			}
		}
	}) {
		if read++; read != sent {
			t.Fatalf("answer %d came after %d notes", read, sent)
		}
		if read == 3 {
			break
		}
	}
	if sent != 3 || appended != 3 {
		t.Errorf("a reader that stopped after 3: %d notes were taken and %d kept, want 3", sent, appended)
	}
}

func TestRouteChatFails(t *testing.T) {
	own := errors.New("the caller's own")
	s, store, _ := fresh(t, service.Config{})
	first := service.RouteNote{Location: pt(1, 1), Message: "first"}
	largest := service.RouteNote{Location: pt(2, 2), Message: strings.Repeat("x", service.MaxNote)}
	tooLarge := service.RouteNote{Location: pt(2, 2), Message: largest.Message + "x"}
	got, err := service.Collect(s.RouteChat(t.Context(), then([]service.RouteNote{largest}, own)))
	if err != own || !slices.Equal(got, []service.RouteNote{largest}) {
		t.Errorf("an error after the largest note: got %d answers, %v, want one and that very error", len(got), err)
	}
	got, err = service.Collect(s.RouteChat(t.Context(), service.All([]service.RouteNote{first, tooLarge, first})))
	wantError(t, "a note that is too large", err, service.InvalidArgument, "a note of 65537 bytes: at most 65536 are kept")
	if len(got) != 1 {
		t.Errorf("a note that is too large: got %d answers before it, want 1", len(got))
	}
	_, err = service.Collect(s.RouteChat(t.Context(), service.All([]service.RouteNote{{Location: pt(-90_0000001, 0)}})))
	wantError(t, "a note off the earth", err, service.InvalidArgument, "")
	store.append = func(service.Key) error { return service.Errorf(service.ResourceExhausted, "store: full") }
	_, err = service.Collect(s.RouteChat(t.Context(), service.All([]service.RouteNote{first})))
	wantError(t, "the store is full", err, service.ResourceExhausted, "store: full")
}

func BenchmarkRecordRoute(b *testing.B) {
	s := newService(b, memory.New(nil), service.Config{})
	for _, n := range []int{2, 100} {
		points := make([]service.Point, n)
		for i := range points {
			points[i] = pt(int32(i)*1000, int32(i)*-1000)
		}
		b.Run(fmt.Sprintf("points=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.RecordRoute(b.Context(), service.All(points)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
