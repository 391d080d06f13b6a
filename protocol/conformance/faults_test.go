package conformance

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

type fault struct {
	name     string
	caughtBy []string
	says     string // part of each difference
	plant    func(dial) dial
}

var faults = []fault{
	{"drops all but ASCII", []string{"hit", "unicode"}, "??",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			d.CnName = ascii(d.CnName)
			return d, err
		})},
	{"cuts strings at NUL", []string{"unicode"}, `want "a\x00b`,
		requests(func(ctx context.Context, r service.DataTypeRequest) (context.Context, service.DataTypeRequest) {
			r.Name, _, _ = strings.Cut(r.Name, "\x00")
			return ctx, r
		})},
	{"passes int64 through a float64", []string{"int64"}, "9007199254740992, want 9007199254740993",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			if d.CodeID < 1<<62 {
				d.CodeID = int64(float64(d.CodeID))
			}
			return d, err
		})},
	{"cuts int64 to 32 bits", []string{"int64"}, "2147483648",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			d.CodeID = int64(int32(d.CodeID))
			return d, err
		})},
	{"answers nothing for zero values", []string{"empty"}, "answer of zero values",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			if err == nil && d == (service.DataType{}) {
				return d, &protocol.Fault{Kind: protocol.Malformed, Err: errors.New("no body")}
			}
			return d, err
		})},
	{"reports every error as internal", []string{"miss", "empty", "errors", "error-text", "token-refused", "token-expired"}, "got code internal",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			return d, recoded(err, func(e *service.Error) { e.Code = service.Internal })
		})},
	{"loses the code of errors", []string{"errors", "deadline"}, "code was lost",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			if err != nil {
				err = errors.New(err.Error())
			}
			return d, err
		})},
	{"decorates messages", []string{"miss", "errors"}, "rpc error: ",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			return d, recoded(err, func(e *service.Error) { e.Msg = "rpc error: " + e.Msg })
		})},
	{"sends messages as header text", []string{"miss", "error-text"}, "got message",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			return d, recoded(err, func(e *service.Error) { e.Msg = ascii(e.Msg) })
		})},
	{"loses the cause of errors", []string{"errors"}, `got cause "" and outcome class "unavailable", want "planted_unavailable"`,
		answers(func(d service.DataType, err error) (service.DataType, error) {
			return d, recoded(err, func(e *service.Error) { e.Cause = "" })
		})},
	{"loses the cause of an error in a stream", []string{"stream-error"}, `got cause ""`,
		lists(func(_ context.Context, seq iter.Seq2[service.Feature, error]) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				for f, err := range seq {
					if !yield(f, recoded(err, func(e *service.Error) { e.Cause = "" })) {
						return
					}
				}
			}
		})},
	{"names a cause where there is none", []string{"errors"}, `want "" and "not_found"`,
		answers(func(d service.DataType, err error) (service.DataType, error) {
			return d, recoded(err, func(e *service.Error) {
				if e.Cause == "" {
					e.Cause = "unknown"
				}
			})
		})},
	{"takes any text for a cause", []string{"errors"}, `got cause "Not A Cause"`,
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				d, err := c.DataType(ctx, r)
				if planted := strings.SplitN(r.Name, ":", 4); len(planted) == 4 {
					err = recoded(err, func(e *service.Error) { e.Cause = planted[2] })
				}
				return d, err
			}}
		})},
	{"has a server that fails", []string{probeVector}, "unavailable",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			return d, service.Errorf(service.Unavailable, "no")
		})},
	{"brings the expiry in local time", []string{"login"}, "UTC", client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnLogin: func(ctx context.Context, r service.LoginRequest) (service.Session, error) {
			s, err := c.Login(ctx, r)
			s.Expires = s.Expires.In(time.FixedZone("UTC+8", 8*3600))
			return s, err
		}}
	})},
	{"brings the expiry in seconds", []string{"login"}, "expires at 1970", client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnLogin: func(ctx context.Context, r service.LoginRequest) (service.Session, error) {
			s, err := c.Login(ctx, r)
			s.Expires = time.UnixMilli(s.Expires.Unix()).UTC()
			return s, err
		}}
	})},
	{"remembers the login", []string{"login-refused"}, "got an answer, want error unauthenticated",
		client(func(c protocol.Client) servicetest.API {
			var good service.Session
			return servicetest.API{OnLogin: func(ctx context.Context, r service.LoginRequest) (service.Session, error) {
				if good.Token != "" {
					return good, nil
				}
				s, err := c.Login(ctx, r)
				good = s
				return s, err
			}}
		})},
	{"sends the token of the login with each request", []string{"token-carried", "token-refused", "token-expired"}, "got",
		client(func(c protocol.Client) servicetest.API {
			var auth service.Auth
			return servicetest.API{
				OnLogin: func(ctx context.Context, r service.LoginRequest) (service.Session, error) {
					s, err := c.Login(ctx, r)
					auth = service.Auth{ClientID: r.ClientID, Token: s.Token}
					return s, err
				},
				OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
					r.Auth = auth
					return c.DataType(ctx, r)
				}}
		})},
	{"sends no token", []string{"hit", "token-carried", "login"}, "",
		requests(func(ctx context.Context, r service.DataTypeRequest) (context.Context, service.DataTypeRequest) {
			r.Auth = service.Auth{}
			return ctx, r
		})},
	{"has a limit of 1 MiB", []string{"payload", "payload-most"}, "resource_exhausted",
		options(func(o *protocol.Options) { o.MaxMessage = 1 << 20 })},
	{"has a limit of 64 MiB", []string{"request-too-large", "answer-too-large", "max-message"}, "got an answer",
		options(func(o *protocol.Options) { o.MaxMessage = 64 << 20 })},
	{"loses the end of large texts", []string{"payload"}, "want",
		requests(func(ctx context.Context, r service.DataTypeRequest) (context.Context, service.DataTypeRequest) {
			r.Name = r.Name[:min(len(r.Name), 1<<20)]
			return ctx, r
		})},
	{"is of no use after a message over the limit", []string{"request-too-large", "answer-too-large"}, "the next call",
		client(func(c protocol.Client) servicetest.API {
			var spoilt bool
			return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				if spoilt {
					return service.DataType{}, &protocol.Fault{Kind: protocol.Reset, Err: errors.New("broken pipe")}
				}
				d, err := c.DataType(ctx, r)
				var se *service.Error
				spoilt = errors.As(err, &se) && se.Code == service.ResourceExhausted
				return d, err
			}}
		})},
	{"ignores contexts", []string{"deadline", "cancel", "ended-context"}, "",
		requests(func(ctx context.Context, r service.DataTypeRequest) (context.Context, service.DataTypeRequest) {
			return context.WithoutCancel(ctx), r
		})},
	{"notices its deadline late", []string{"deadline", "deadline-queued"}, "want at most 60ms",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				d, err := c.DataType(ctx, r)
				if errors.Is(err, context.DeadlineExceeded) {
					<-time.After(30 * time.Millisecond)
				}
				return d, err
			}}
		})},
	{"waits for its connection without looking at the context", []string{"deadline-queued"}, "",
		client(func(c protocol.Client) servicetest.API {
			var one sync.Mutex
			return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				one.Lock()
				defer one.Unlock()
				return c.DataType(ctx, r)
			}}
		})},
	{"gives up early", []string{"deadline"}, "before its time of 50ms", client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
			if d, ok := ctx.Deadline(); ok {
				var cancel context.CancelFunc
				ctx, cancel = context.WithDeadline(ctx, d.Add(-15*time.Millisecond))
				defer cancel()
			}
			return c.DataType(ctx, r)
		}}
	})},
	{"ignores the deadline of streams", []string{"deadline-stream"}, "want error deadline_exceeded",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnListFeatures: func(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
				return c.ListFeatures(context.WithoutCancel(ctx), r)
			}}
		})},
	{"ignores Options.Timeout", []string{"timeout"}, "got an answer, want error deadline_exceeded",
		options(func(o *protocol.Options) { o.Timeout = 0 })},
	{"reports a cancelled call as unavailable", []string{"cancel", "ended-context"}, "want an error that is context.Canceled",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			if errors.Is(err, context.Canceled) {
				err = service.Errorf(service.Unavailable, "cancelled")
			}
			return d, err
		})},
	{"hands answers to the wrong caller", []string{"concurrent", "crowd"}, "want", client(func(c protocol.Client) servicetest.API {
		answers := make(chan service.DataType, 1)
		return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
			d, err := c.DataType(ctx, r)
			if err != nil {
				return d, err
			}
			select { // the answer of the last call, if it has not been taken
			case other := <-answers:
				answers <- d
				return other, nil
			default:
				select {
				case answers <- d:
				default:
				}
				return d, nil
			}
		}}
	})},
	{"refuses calls where it should wait", []string{"crowd"}, "no free connections", client(func(c protocol.Client) servicetest.API {
		free := make(chan struct{}, 2)
		return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
				return c.DataType(ctx, r)
			default:
				return service.DataType{}, &protocol.Fault{Kind: protocol.Local, Err: errors.New("no free connections")}
			}
		}}
	})},
	{"opens one connection whatever is asked", []string{"connections"}, "got 1, want 3",
		options(func(o *protocol.Options) { o.Conns = 1 })},
	{"tries again when it was unavailable", []string{"attempts"}, `got message "attempt 2", want "attempt 1"`,
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				d, err := c.DataType(ctx, r)
				if err != nil {
					return c.DataType(ctx, r)
				}
				return d, err
			}}
		})},
	{"tries again when the connection breaks", []string{"answer-lost"}, "it was made",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				d, err := c.DataType(ctx, r)
				var fault *protocol.Fault
				if errors.As(err, &fault) && fault.Kind == protocol.Reset {
					return c.DataType(ctx, r)
				}
				return d, err
			}}
		})},
	{"answers errors from memory", []string{"attempts"}, `got message "attempt 1", want "attempt 2"`,
		client(func(c protocol.Client) servicetest.API {
			var known sync.Map
			return servicetest.API{OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				if err, ok := known.Load(r.Name); ok {
					return service.DataType{}, err.(error)
				}
				d, err := c.DataType(ctx, r)
				if err != nil {
					known.Store(r.Name, err)
				}
				return d, err
			}}
		})},
	{"hides where it dialled", []string{"refused"}, "want one that names the address", func(good dial) dial {
		return func(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
			c, err := good(ctx, addr, o)
			if err != nil {
				return nil, errors.New("connection refused")
			}
			return c, nil
		}
	}},
	{"ignores unknown options", []string{"unknown-option"}, "got a client, want an error",
		options(func(o *protocol.Options) { o.Knobs = nil })},
	{"blames the connection for its own Close", []string{"close"}, "want *protocol.Fault of kind local",
		answers(func(d service.DataType, err error) (service.DataType, error) {
			if errors.Is(err, protocol.ErrClosed) {
				err = &protocol.Fault{Kind: protocol.Reset, Err: protocol.ErrClosed}
			}
			return d, err
		})},
	{"lists after Close as if nothing were", []string{"close"}, "a stream after Close",
		lists(func(_ context.Context, seq iter.Seq2[service.Feature, error]) iter.Seq2[service.Feature, error] {
			all, _ := service.Collect(seq)
			return service.All(all)
		})},
	{"does not close", []string{"close"}, "", closing(func(protocol.Client) error { return nil })},
	{"fails to close", []string{"hit"}, "close: got error busy",
		closing(func(c protocol.Client) error { return errors.Join(errors.New("busy"), c.Close()) })},
	{"panics", []string{"hit"}, "the client panicked: index out of range",
		requests(func(context.Context, service.DataTypeRequest) (context.Context, service.DataTypeRequest) {
			panic("index out of range")
		})},
	{"never returns", []string{"hit"}, "a call never returned", client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnDataType: func(context.Context, service.DataTypeRequest) (service.DataType, error) { select {} }}
	})},
	{"carries bytes as text", []string{"bytes", "bytes-payload"}, "want", client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnEcho: func(ctx context.Context, p service.Payload) (service.Payload, error) {
			p.Data = []byte(strings.ToValidUTF8(string(p.Data), "?"))
			return c.Echo(ctx, p)
		}}
	})},
	{"changes the caller's bytes", []string{"bytes", "bytes-payload"}, "the caller's bytes were changed",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnEcho: func(ctx context.Context, p service.Payload) (service.Payload, error) {
				answer, err := c.Echo(ctx, service.Payload{Text: p.Text, Data: slices.Clone(p.Data)})
				clear(p.Data)
				return answer, err
			}}
		})},
	{"has no limit for bytes", []string{"bytes-too-large"}, "got an answer, want error resource_exhausted",
		client(func(protocol.Client) servicetest.API {
			return servicetest.API{OnEcho: func(_ context.Context, p service.Payload) (service.Payload, error) { return p, nil }}
		})},
	{"loses the sign of coordinates", []string{"feature", "rectangle"}, "", client(func(c protocol.Client) servicetest.API {
		abs := func(p service.Point) service.Point {
			return service.Point{Latitude: max(p.Latitude, -p.Latitude), Longitude: max(p.Longitude, -p.Longitude)}
		}
		return servicetest.API{
			OnGetFeature: func(ctx context.Context, p service.Point) (service.Feature, error) {
				return c.GetFeature(ctx, abs(p))
			},
			OnListFeatures: func(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
				return c.ListFeatures(ctx, service.Rectangle{Lo: abs(r.Lo), Hi: abs(r.Hi)})
			}}
	})},
	{"passes metres through a float32", []string{"distance"}, "want {PointCount:2 FeatureCount:0 Distance:13975745",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnRecordRoute: func(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
				s, err := c.RecordRoute(ctx, points)
				s.Distance = int32(float32(s.Distance)/1000) * 1000
				return s, err
			}}
		})},
	{"answers a note with its own alone", []string{"chat"}, "RouteChat with 13 notes",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnRouteChat: func(_ context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
				return notes
			}}
		})},
	{"takes a point of zeros for none", []string{"zeros"}, "PointCount:0",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnRecordRoute: func(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
				return c.RecordRoute(ctx, withoutZeros(points))
			}}
		})},
	{"takes a note of zeros for none", []string{"zeros"}, "got no answer, want it back",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnRouteChat: func(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
				return c.RouteChat(ctx, withoutZeros(notes))
			}}
		})},
	{"loses the last element of a stream", []string{"list", "rectangle", "stop-early"}, "",
		lists(func(_ context.Context, seq iter.Seq2[service.Feature, error]) iter.Seq2[service.Feature, error] {
			all, err := service.Collect(seq)
			if err != nil {
				return service.Fail[service.Feature](err)
			}
			return service.All(all[:min(2, max(0, len(all)-1))])
		})},
	{"hands out elements that share memory", []string{"list"}, "element 0",
		lists(func(_ context.Context, seq iter.Seq2[service.Feature, error]) iter.Seq2[service.Feature, error] {
			all, err := service.Collect(seq)
			for i := range all {
				all[i] = all[len(all)-1]
			}
			if err != nil {
				return service.Fail[service.Feature](err)
			}
			return service.All(all)
		})},
	{"brings a stream out of order", []string{"list"}, "element",
		lists(func(_ context.Context, seq iter.Seq2[service.Feature, error]) iter.Seq2[service.Feature, error] {
			all, err := service.Collect(seq)
			if err != nil {
				return service.Fail[service.Feature](err)
			}
			slices.Reverse(all)
			return service.All(all)
		})},
	{"takes an error for the end of a stream", []string{"stream-error"}, "got an answer, want error internal",
		lists(func(_ context.Context, seq iter.Seq2[service.Feature, error]) iter.Seq2[service.Feature, error] {
			all, _ := service.Collect(seq)
			return service.All(all)
		})},
	{"ends a cancelled stream without an error", []string{"stream-cancel"}, "ended without an error after 3 of 10000",
		lists(func(ctx context.Context, seq iter.Seq2[service.Feature, error]) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				for f, err := range seq {
					if ctx.Err() != nil || !yield(f, err) {
						return
					}
				}
			}
		})},
	{"keeps the connection of a stream that was stopped", []string{"stop-early"}, "", client(func(c protocol.Client) servicetest.API {
		free := make(chan struct{}, 2)
		return servicetest.API{
			OnDataType: func(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
				select {
				case free <- struct{}{}:
					defer func() { <-free }()
					return c.DataType(ctx, r)
				case <-ctx.Done():
					return service.DataType{}, protocol.CallError(ctx)
				}
			},
			OnListFeatures: func(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
				return func(yield func(service.Feature, error) bool) {
					free <- struct{}{}
					for f, err := range c.ListFeatures(ctx, r) {
						if !yield(f, err) {
							return // with the connection
						}
					}
					<-free
				}
			}}
	})},
	{"sends what it has when the caller's sequence fails", []string{"input-error"}, "want the caller's own",
		client(func(c protocol.Client) servicetest.API {
			return servicetest.API{OnRecordRoute: func(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
				all, _ := service.Collect(points)
				return c.RecordRoute(ctx, service.All(all))
			}}
		})},
	{"loses the last point of a route", []string{"record"}, "RecordRoute of", client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnRecordRoute: func(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
			all, err := service.Collect(points)
			if err != nil || len(all) == 0 {
				return service.RouteSummary{}, err
			}
			return c.RecordRoute(ctx, service.All(all[:len(all)-1]))
		}}
	})},
	{"repeats notes", []string{"exchange"}, "got 2, want 1", client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnRouteChat: func(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
			return func(yield func(service.RouteNote, error) bool) {
				for n, err := range c.RouteChat(ctx, notes) {
					for range 2 {
						if !yield(n, err) {
							return
						}
					}
				}
			}
		}}
	})},
}

func withoutZeros[T comparable](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		for v, err := range seq {
			if (v != zero || err != nil) && !yield(v, err) {
				return
			}
		}
	}
}

func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 127 {
			return '?'
		}
		return r
	}, s)
}

// recoded changes the error of a service, if it is one.
func recoded(err error, change func(e *service.Error)) error {
	var se *service.Error
	if !errors.As(err, &se) {
		return err
	}
	e := *se
	change(&e)
	return &e
}
