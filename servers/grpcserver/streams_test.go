package grpcserver_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// route answers streams by arithmetic: a rectangle whose upper latitude is n has n features, a route is as long as it
// has points, and each note is answered twice: as it is, and with its length.
var route = servicetest.API{
	OnListFeatures: func(_ context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
		return service.All(features(int(r.Hi.Latitude)))
	},
	OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
		all, err := service.Collect(points)
		if err != nil {
			return service.RouteSummary{}, err
		}
		s := service.RouteSummary{PointCount: int32(len(all)), FeatureCount: 7, ElapsedTime: 9}
		for _, p := range all {
			s.Distance += p.Latitude - p.Longitude
		}
		return s, nil
	},
	OnRouteChat: func(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
		return func(yield func(service.RouteNote, error) bool) {
			for n, err := range notes {
				if !yield(n, err) || err != nil {
					return
				}
				if !yield(service.RouteNote{Location: n.Location, Message: fmt.Sprint(len(n.Message))}, nil) {
					return
				}
			}
		}
	},
}

func features(n int) []service.Feature {
	all := make([]service.Feature, n)
	for i := range all {
		all[i] = service.Feature{Name: fmt.Sprint("feature ", i), Location: service.Point{Latitude: int32(i), Longitude: -int32(i)}}
	}
	return all
}

func points(n int) []service.Point {
	all := make([]service.Point, n)
	for i := range all {
		all[i] = service.Point{Latitude: int32(i), Longitude: -1}
	}
	return all
}

func notes(n int) []service.RouteNote {
	all := make([]service.RouteNote, n)
	for i := range all {
		all[i] = service.RouteNote{Location: service.Point{Latitude: int32(i)}, Message: fmt.Sprint("語 ", i)}
	}
	return all
}

func TestStreams(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		c := both(t, route, o)
		for _, n := range []int{0, 1, 100, 10_000} {
			got, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{Hi: service.Point{Latitude: int32(n)}}))
			if err != nil || !slices.Equal(got, features(n)) {
				t.Errorf("%d features: got %d, %v", n, len(got), err)
			}

			s, err := c.RecordRoute(t.Context(), service.All(points(n)))
			// latitudes 0 to n-1, each with 1 more for its longitude of -1
			want := service.RouteSummary{PointCount: int32(n), FeatureCount: 7, Distance: int32(n*(n-1)/2 + n), ElapsedTime: 9}
			if err != nil || s != want {
				t.Errorf("%d points: %v, %v, want %v", n, s, err, want)
			}

			var answers []service.RouteNote
			for _, note := range notes(n) {
				answers = append(answers, note, service.RouteNote{Location: note.Location, Message: fmt.Sprint(len(note.Message))})
			}
			heard, err := service.Collect(c.RouteChat(t.Context(), service.All(notes(n))))
			if err != nil || !slices.Equal(heard, answers) {
				t.Errorf("%d notes: got %d answers, %v", n, len(heard), err)
			}
		}
	})
}

// TestChatInStep sends each note only after the answers to the one before have come: nothing waits for a full buffer.
func TestChatInStep(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		c := both(t, route, o)
		next := make(chan struct{}, 1)
		next <- struct{}{}
		asked := func(yield func(service.RouteNote, error) bool) {
			for _, n := range notes(10) {
				<-next
				if !yield(n, nil) {
					return
				}
			}
		}
		heard := 0
		for n, err := range c.RouteChat(t.Context(), asked) {
			if err != nil {
				t.Fatal(err)
			}
			if heard++; heard%2 == 0 {
				next <- struct{}{}
			} else if n.Location.Latitude != int32(heard/2) {
				t.Errorf("answer %d is to the note at %v", heard, n.Location)
			}
		}
		if heard != 20 {
			t.Errorf("%d answers, want 2 for each of 10 notes", heard)
		}
	})
}

// TestErrorsOfStreams has the service fail after two elements, with every code.
func TestErrorsOfStreams(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		var fail error
		c := both(t, servicetest.API{
			OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
				return func(yield func(service.Feature, error) bool) {
					for _, f := range features(2) {
						yield(f, nil)
					}
					yield(service.Feature{}, fail)
				}
			},
			OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
				next, stop := iter.Pull2(points)
				defer stop()
				next()
				next()
				return service.RouteSummary{}, fail
			},
			OnRouteChat: func(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
				return func(yield func(service.RouteNote, error) bool) {
					heard := 0
					for n, err := range notes {
						if heard++; heard > 2 {
							yield(service.RouteNote{}, fail)
							return
						}
						yield(n, err)
					}
				}
			},
		}, o)
		for name, row := range errorCases() {
			fail = row.given
			got, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{}))
			same(t, name+", ListFeatures", err, row.want)
			if len(got) != 2 {
				t.Errorf("%s: %d features before the error, want 2", name, len(got))
			}
			_, err = c.RecordRoute(t.Context(), service.All(points(10_000)))
			same(t, name+", RecordRoute", err, row.want)
			heard, err := service.Collect(c.RouteChat(t.Context(), service.All(notes(10_000))))
			same(t, name+", RouteChat", err, row.want)
			if len(heard) != 2 {
				t.Errorf("%s: %d answers before the error, want 2", name, len(heard))
			}
		}
	})
}

// TestInputError ends calls by an error in what is to be sent: the caller gets that error, the service hears that its
// caller has gone.
func TestInputError(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		told := make(chan error, 1)
		c := both(t, servicetest.API{
			OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
				_, err := service.Collect(points)
				told <- err
				return service.RouteSummary{}, err
			},
			OnRouteChat: func(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
				_, err := service.Collect(notes)
				told <- err
				return service.Fail[service.RouteNote](err)
			},
		}, o)
		broken := errors.New("the source broke")
		_, err := c.RecordRoute(t.Context(), thenFail(points(3), broken))
		if err != broken {
			t.Errorf("RecordRoute: %v, want %v", err, broken)
		}
		if err := <-told; !errors.Is(err, context.Canceled) {
			t.Errorf("RecordRoute: the service heard %v, want %v", err, context.Canceled)
		}
		_, err = service.Collect(c.RouteChat(t.Context(), thenFail(notes(3), broken)))
		if err != broken {
			t.Errorf("RouteChat: %v, want %v", err, broken)
		}
		if err := <-told; !errors.Is(err, context.Canceled) {
			t.Errorf("RouteChat: the service heard %v, want %v", err, context.Canceled)
		}
	})
}

func thenFail[T any](values []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v := range service.All(values) {
			if !yield(v, nil) {
				return
			}
		}
		var zero T
		yield(zero, err)
	}
}

// endless streams until its call ends, and says so.
func endless(ended chan<- struct{}) servicetest.API {
	return servicetest.API{
		OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				for yield(service.Feature{Name: "again"}, nil) {
				}
				<-ctx.Done()
				ended <- struct{}{}
			}
		},
		OnRecordRoute: func(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
			_, err := service.Collect(points)
			<-ctx.Done()
			ended <- struct{}{}
			return service.RouteSummary{}, err
		},
		OnRouteChat: func(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
			return func(yield func(service.RouteNote, error) bool) {
				for n, err := range notes {
					if err != nil || !yield(n, nil) {
						break
					}
				}
				<-ctx.Done()
				ended <- struct{}{}
			}
		},
	}
}

func forever[T any](v T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for yield(v, nil) {
		}
	}
}

// TestStopEarly leaves streams in the middle: the server's half ends too, and nothing is left running (goleak).
func TestStopEarly(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		ended := make(chan struct{}, 1)
		c := both(t, endless(ended), o)
		for f, err := range c.ListFeatures(t.Context(), service.Rectangle{}) {
			if err != nil || f.Name != "again" {
				t.Errorf("%v, %v", f, err)
			}
			break
		}
		<-ended
		for n, err := range c.RouteChat(t.Context(), forever(service.RouteNote{Message: "m"})) {
			if err != nil || n.Message != "m" {
				t.Errorf("%v, %v", n, err)
			}
			break
		}
		<-ended
	})
}

// TestStreamsEndWithTheirContext ends streams by a cancelled context, a deadline and the client's timeout.
func TestStreamsEndWithTheirContext(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		ended := make(chan struct{}, 1)
		addr, _ := serve(t, endless(ended), o)
		patient := dial(t, addr, o)
		o.Timeout = 50 * time.Millisecond
		hasty := dial(t, addr, o)
		for name, run := range map[string]func(ctx context.Context, c protocol.Client, at func()) error{
			"ListFeatures": func(ctx context.Context, c protocol.Client, at func()) error {
				for _, err := range c.ListFeatures(ctx, service.Rectangle{}) {
					if at(); err != nil {
						return err
					}
				}
				return nil
			},
			"RecordRoute": func(ctx context.Context, c protocol.Client, at func()) error {
				_, err := c.RecordRoute(ctx, func(yield func(service.Point, error) bool) {
					for yield(service.Point{}, nil) {
						at()
					}
				})
				return err
			},
			"RouteChat": func(ctx context.Context, c protocol.Client, at func()) error {
				for _, err := range c.RouteChat(ctx, forever(service.RouteNote{})) {
					if at(); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			if err := run(ctx, patient, cancel); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, cancelled: %v", name, err)
			}
			<-ended
			wantCode(t, name+", timeout", run(t.Context(), hasty, func() {}), service.DeadlineExceeded)
			<-ended
			ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
			wantCode(t, name+", deadline", run(ctx, patient, func() {}), service.DeadlineExceeded)
			cancel()
			<-ended
		}
	})
}

// TestLimitOfStreamedMessages sends one message too large among others, past a limit of either side.
func TestLimitOfStreamedMessages(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		small := o
		small.MaxMessage = 1000
		long := strings.Repeat("x", 1000)
		for name, ends := range map[string]struct{ server, client protocol.Options }{
			"client's limit": {o, small}, "server's limit": {small, o},
		} {
			addr, _ := serve(t, servicetest.API{
				OnRouteChat: route.OnRouteChat,
				OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
					return service.All([]service.Feature{{Name: "short"}, {Name: long}})
				},
			}, ends.server)
			c := dial(t, addr, ends.client)
			got, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{}))
			wantCode(t, name+", ListFeatures", err, service.ResourceExhausted)
			if len(got) != 1 {
				t.Errorf("%s: %d features before the one that is too large, want 1", name, len(got))
			}
			_, err = service.Collect(c.RouteChat(t.Context(), service.All([]service.RouteNote{{Message: "short"}, {Message: long}})))
			wantCode(t, name+", RouteChat", err, service.ResourceExhausted)
		}
	})
}

// TestNotUTF8InAStream: see TestNotUTF8.
func TestNotUTF8InAStream(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		c := both(t, route, o)
		_, err := service.Collect(c.RouteChat(t.Context(), service.All([]service.RouteNote{{Message: "good"}, {Message: "a\xffb"}})))
		wantCode(t, "RouteChat", err, service.InvalidArgument)
	})
}
