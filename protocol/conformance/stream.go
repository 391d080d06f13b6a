package conformance

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	"bakeoff/service"
)

// lengths of streams: none, one, what a workload sends, and more than any window or buffer holds.
var lengths = []int{0, 1, 100, 10_000}

var streamVectors = []Vector{
	{"list",
		"ListFeatures brings 0, 1, 100 and 10,000 features, whole and in order",
		"the end of a stream, and elements that share memory", list},
	{"record",
		"RecordRoute takes 0, 1, 100 and 10,000 points, whole and in order",
		"the end of a stream, and elements that are still in a buffer then", record},
	{"exchange",
		"RouteChat takes and brings 0, 1, 100 and 10,000 notes, whole and in order",
		"the end of either stream, and a client that sends all before it reads any", exchange},
	{"stream-error",
		"an error after 0 or 100 features is the last element of the sequence, with its code and message",
		"an error that takes the place of the end of a stream", streamError},
	{"input-error",
		"an error in what a caller sends ends the call with that very error, and the client works after it",
		"a client that sends the error, hides it, or waits for the answer", inputError},
	{"stop-early",
		"a caller that stops reading a stream ends the call, and the client works after it, more often than it has connections",
		"a connection that goes back to the pool with unread elements, or does not go back", stopEarly},
	{"stream-cancel",
		"a stream that is cancelled in the middle ends with context.Canceled, or had arrived as a whole",
		"a reader that does not watch its context", streamCancel},
}

// planted is the rectangle for n planted features.
func planted(n int, besides int32) service.Rectangle {
	return service.Rectangle{Lo: Marker, Hi: service.Point{Latitude: int32(n), Longitude: besides}}
}

// sameAll compares sequences, and names the first element that differs.
func sameAll[T comparable](what string, got, want []T) error {
	for i := range min(len(got), len(want)) {
		if err := same(fmt.Sprintf("%s: element %d", what, i), got[i], want[i]); err != nil {
			return err
		}
	}
	return same(what+": number of elements", len(got), len(want))
}

// elements makes n of them.
func elements[T any](n int, element func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = element(i)
	}
	return all
}

func plantedFeature(i int) service.Feature {
	return service.Feature{Name: PlaceName(i), Location: Place(i)}
}

func list(ctx context.Context, e *Env) error {
	for _, n := range lengths {
		what := fmt.Sprintf("ListFeatures of %d", n)
		got, err := service.Collect(e.Client.ListFeatures(ctx, planted(n, AfterNothing)))
		if err != nil {
			return fmt.Errorf("%s: got error %w after %d features", what, err, len(got))
		}
		if err := sameAll(what, got, elements(n, plantedFeature)); err != nil {
			return err
		}
	}
	return nil
}

func record(ctx context.Context, e *Env) error {
	none, err := e.Client.RecordRoute(ctx, service.All[service.Point](nil))
	if err != nil {
		return fmt.Errorf("RecordRoute of 0 points: got error %w, want a summary of zeros", err)
	}
	if err := same("RecordRoute of 0 points", none, service.RouteSummary{}); err != nil {
		return err
	}
	for _, n := range lengths {
		points := append([]service.Point{Marker}, elements(n, Place)...)
		got, err := e.Client.RecordRoute(ctx, service.All(points))
		if err != nil {
			return fmt.Errorf("RecordRoute of %d points: got error %w", n, err)
		}
		want := service.RouteSummary{PointCount: int32(n), FeatureCount: int32(n), Distance: math.MinInt32, ElapsedTime: math.MaxInt32}
		if err := same(fmt.Sprintf("RecordRoute of %d points (FeatureCount: those in their place)", n), got, want); err != nil {
			return err
		}
	}
	return nil
}

func plantedNote(i int) service.RouteNote {
	return service.RouteNote{Location: service.Point{Latitude: int32(i), Longitude: Marker.Longitude}, Message: "第 " + strconv.Itoa(i) + " 則"}
}

func exchange(ctx context.Context, e *Env) error {
	for _, n := range lengths {
		what, notes := fmt.Sprintf("RouteChat of %d notes", n), elements(n, plantedNote)
		got, err := service.Collect(e.Client.RouteChat(ctx, service.All(notes)))
		if err != nil {
			return fmt.Errorf("%s: got error %w after %d answers", what, err, len(got))
		}
		if err := sameAll(what, got, notes); err != nil {
			return err
		}
	}
	return nil
}

// streamError allows that the features before the error are lost: a protocol without streams has either an answer
// or an error.
func streamError(ctx context.Context, e *Env) error {
	for _, n := range []int{0, 100} {
		what := fmt.Sprintf("an error after %d features", n)
		got, err := service.Collect(e.Client.ListFeatures(ctx, planted(n, AfterError)))
		if err := errors.Join(fails(what, err, service.Internal, StreamError), caused(what, err, StreamCause)); err != nil {
			return err
		}
		if len(got) == 0 {
			continue
		}
		if err := sameAll(what, got, elements(n, plantedFeature)); err != nil {
			return err
		}
	}
	return works(ctx, e.Client, "an error at the end of a stream")
}

var errInput = errors.New("the caller's own error")

// breaking is a sequence of two elements and an error.
func breaking[T any](element func(i int) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		_ = yield(element(0), nil) && yield(element(1), nil) && yield(none, errInput)
	}
}

func inputError(ctx context.Context, e *Env) error {
	for range shared + 1 {
		_, errRecord := e.Client.RecordRoute(ctx, breaking(Place))
		_, errChat := service.Collect(e.Client.RouteChat(ctx, breaking(plantedNote)))
		for what, err := range map[string]error{"RecordRoute": errRecord, "RouteChat": errChat} {
			if !errors.Is(err, errInput) {
				return fmt.Errorf("%s with an error after 2 elements: got error %v, want the caller's own", what, err)
			}
		}
		if err := works(ctx, e.Client, "an error in what the caller sends"); err != nil {
			return err
		}
	}
	return nil
}

func stopEarly(ctx context.Context, e *Env) error {
	c, err := e.Dial(ctx, 2, 2, nil)
	if err != nil {
		return err
	}
	stop := func(what string, read int, err error) error {
		if err != nil {
			return fmt.Errorf("%s: got error %w in its first elements", what, err)
		}
		return same(what+": elements read before it was stopped", read, 3)
	}
	for range 4 {
		read := 0
		for f, err := range c.ListFeatures(ctx, planted(10_000, AfterNothing)) {
			if err == nil {
				err = same("ListFeatures", f, plantedFeature(read))
			}
			if err != nil {
				return stop("ListFeatures", read, err)
			}
			if read++; read == 3 {
				break
			}
		}
		if err := stop("ListFeatures", read, nil); err != nil {
			return err
		}
		read = 0
		for n, err := range c.RouteChat(ctx, service.All(elements(1000, plantedNote))) {
			if err == nil {
				err = same("RouteChat", n, plantedNote(read))
			}
			if err != nil {
				return stop("RouteChat", read, err)
			}
			if read++; read == 3 {
				break
			}
		}
		if err := stop("RouteChat", read, nil); err != nil {
			return err
		}
		if err := works(ctx, c, "streams that were not read to their end"); err != nil {
			return err
		}
	}
	return nil
}

func streamCancel(ctx context.Context, e *Env) error {
	const n = 10_000
	for range shared + 1 {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		read := 0
		var last error
		for _, err := range e.Client.ListFeatures(ctx, planted(n, AfterNothing)) {
			if last = err; err != nil {
				break
			}
			if read++; read == 3 {
				cancel()
			}
		}
		if last == nil && read != n {
			return fmt.Errorf("a stream that was cancelled after 3 elements ended without an error after %d of %d", read, n)
		}
		if last != nil {
			if err := isCancelled("a stream that was cancelled after 3 elements", last); err != nil {
				return err
			}
		}
	}
	return works(ctx, e.Client, "cancelled streams")
}
