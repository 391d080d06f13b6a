package grpcserver_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

func TestData(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		var got service.DataTypeRequest
		var answer service.DataType
		c := both(t, servicetest.API{OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
			got = r
			return answer, nil
		}}, o)
		for name, row := range map[string]struct {
			rq service.DataTypeRequest
			rp service.DataType
		}{
			"empty": {},
			"known pair": {service.DataTypeRequest{Group: "USER_EVENT", Name: "app_call_connect_success"},
				service.DataType{CodeID: 101, CnName: "語音接通"}},
			"auth": {service.DataTypeRequest{Auth: service.Auth{ClientID: "a", Token: "b"}, Group: "c", Name: "d"},
				service.DataType{Token: "e", CodeID: math.MaxInt64, CnName: "f"}},
			"lowest": {service.DataTypeRequest{Name: "語音\x00接通"}, service.DataType{CodeID: math.MinInt64}},
			"1 MiB":  {service.DataTypeRequest{Group: strings.Repeat("g", 1<<20)}, service.DataType{CnName: strings.Repeat("通", 1<<20/3)}},
		} {
			answer = row.rp
			rp, err := c.DataType(t.Context(), row.rq)
			if err != nil || rp != row.rp || got != row.rq {
				t.Errorf("%s: asked %.99v, answered %.99v, %v", name, got, rp, err)
			}
		}
	})
}

func TestLogin(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		sent := service.Session{Token: "語", Expires: time.UnixMilli(1_700_000_000_123).UTC()}
		c := both(t, servicetest.API{OnLogin: func(_ context.Context, r service.LoginRequest) (service.Session, error) {
			if r != (service.LoginRequest{ClientID: "id", Secret: "s"}) {
				return service.Session{}, nil
			}
			return sent, nil
		}}, o)
		if s, err := c.Login(t.Context(), service.LoginRequest{ClientID: "id", Secret: "s"}); err != nil || s != sent {
			t.Errorf("%v, %v, want %v", s, err, sent)
		}
		if s, err := c.Login(t.Context(), service.LoginRequest{}); err != nil || s != (service.Session{}) {
			t.Errorf("%v, %v, want a session without an end", s, err)
		}
	})
}

// errorCases are every code that a service answers with, and errors that are not of its own making.
func errorCases() map[string]struct{ given, want error } {
	cases := map[string]struct{ given, want error }{
		"a plain error":     {errors.New("disk on fire"), service.Errorf(service.Internal, "disk on fire")},
		"no such code":      {&service.Error{Code: 99, Msg: "m"}, service.Errorf(service.Internal, "m")},
		"not UTF-8":         {&service.Error{Code: service.NotFound, Msg: "a\xffb"}, service.Errorf(service.NotFound, "a\uFFFDb")},
		"a deadline inside": {context.DeadlineExceeded, service.Errorf(service.DeadlineExceeded, "deadline exceeded")},
	}
	for _, code := range service.Codes() {
		e := service.Errorf(code, "語音 100%% \n %s", code)
		cases[code.String()] = struct{ given, want error }{e, e}
	}
	return cases
}

func same(t *testing.T, what string, got, want error) {
	t.Helper()
	var g, w *service.Error
	if !errors.As(got, &g) || !errors.As(want, &w) || g.Code != w.Code || g.Msg != w.Msg {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestErrorsOfUnaryCalls(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		var fail error
		c := both(t, servicetest.API{
			OnLogin: func(context.Context, service.LoginRequest) (service.Session, error) { return service.Session{}, fail },
			OnDataType: func(context.Context, service.DataTypeRequest) (service.DataType, error) {
				return service.DataType{}, fail
			},
			OnGetFeature: func(context.Context, service.Point) (service.Feature, error) { return service.Feature{}, fail },
		}, o)
		for name, row := range errorCases() {
			fail = row.given
			_, err := c.Login(t.Context(), service.LoginRequest{})
			same(t, name+", Login", err, row.want)
			_, err = c.DataType(t.Context(), service.DataTypeRequest{})
			same(t, name+", DataType", err, row.want)
			_, err = c.GetFeature(t.Context(), service.Point{})
			same(t, name+", GetFeature", err, row.want)
		}
	})
}

// TestNotUTF8 sends what protobuf's strings can't hold: the standard codec refuses it at the client, the generated one
// lets it pass and the server refuses it.
func TestNotUTF8(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		c := both(t, servicetest.API{}, o)
		const bad = "a\xffb"
		for name, rq := range map[string]service.DataTypeRequest{
			"group": {Group: bad}, "name": {Name: bad}, "client id": {Auth: service.Auth{ClientID: bad}}, "token": {Auth: service.Auth{Token: bad}},
		} {
			_, err := c.DataType(t.Context(), rq)
			wantCode(t, name, err, service.InvalidArgument)
		}
		_, err := c.Login(t.Context(), service.LoginRequest{ClientID: bad})
		wantCode(t, "login, client id", err, service.InvalidArgument)
		_, err = c.Login(t.Context(), service.LoginRequest{Secret: bad})
		wantCode(t, "login, secret", err, service.InvalidArgument)
	})
}

func wantCode(t *testing.T, what string, err error, code service.Code) {
	t.Helper()
	var e *service.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("%s: %v, want the code %v", what, err, code)
	}
}

// waiting is a service that says when it was called, waits for the end of the call, and says when it was told of it.
func waiting() (a servicetest.API, called, ended chan struct{}) {
	called, ended = make(chan struct{}, 1000), make(chan struct{}, 1000)
	return servicetest.API{OnDataType: func(ctx context.Context, _ service.DataTypeRequest) (service.DataType, error) {
		called <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return service.DataType{}, ctx.Err()
	}}, called, ended
}

// TestDeadline gives 50 ms by the context, and by the client's timeout with contexts that can and can't be cancelled.
func TestDeadline(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		const limit = 50 * time.Millisecond
		o.Timeout = limit
		a, _, ended := waiting()
		c := both(t, a, o)
		for name, ctx := range map[string]func() (context.Context, context.CancelFunc){
			"deadline":    func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), limit) },
			"cancellable": func() (context.Context, context.CancelFunc) { return t.Context(), func() {} },
			"background":  func() (context.Context, context.CancelFunc) { return context.Background(), func() {} },
		} {
			start := time.Now()
			ctx, cancel := ctx()
			_, err := c.DataType(ctx, service.DataTypeRequest{})
			took := time.Since(start)
			cancel()
			wantCode(t, name, err, service.DeadlineExceeded)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: errors.Is does not know %v as a deadline", name, err)
			}
			if took < limit || took > limit+time.Second { // the suite's kit is stricter, on a machine that is not shared
				t.Errorf("%s: took %v, want about %v", name, took, limit)
			}
			<-ended // the server was told
		}
	})
}

func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		o.Timeout = time.Minute
		a, called, ended := waiting()
		c := both(t, a, o)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-called
			cancel()
		}()
		if _, err := c.DataType(ctx, service.DataTypeRequest{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
		<-ended
		if _, err := c.DataType(ctx, service.DataTypeRequest{}); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v, want %v", err, context.Canceled)
		}
	})
}

// TestNoHiddenLimit holds 400 calls in the server at a time, of a server and a client that were told of 50, over one
// connection: the calls come back only when all have arrived.
func TestNoHiddenLimit(t *testing.T) {
	each(t, func(t *testing.T, o protocol.Options) {
		const calls = 400
		var arrived sync.WaitGroup
		arrived.Add(calls)
		c := both(t, servicetest.API{OnGetFeature: func(_ context.Context, p service.Point) (service.Feature, error) {
			arrived.Done()
			arrived.Wait()
			return service.Feature{Location: p}, nil
		}}, o)
		var wg sync.WaitGroup
		for i := range calls {
			wg.Go(func() {
				p := service.Point{Latitude: int32(i), Longitude: -int32(i)}
				if f, err := c.GetFeature(t.Context(), p); err != nil || f.Location != p {
					t.Errorf("asked for %v, got %v, %v", p, f, err)
				}
			})
		}
		wg.Wait()
	})
}

// TestLimit sends messages of one byte too much past limits on either side. A DataTypeRq with a group of n bytes
// (128 to 16383) has 2 (authRq, empty) + 2 (tag) + 2 (length) + n bytes; so has a DataTypeRp with such a name.
func TestLimit(t *testing.T) {
	const limit, overhead = 1000, 2 + 2 + 2
	each(t, func(t *testing.T, o protocol.Options) {
		answer := ""
		a := servicetest.API{OnDataType: func(context.Context, service.DataTypeRequest) (service.DataType, error) {
			return service.DataType{CnName: answer}, nil
		}}
		small := o
		small.MaxMessage = limit
		for name, ends := range map[string]struct{ server, client protocol.Options }{
			"client's limit": {o, small}, "server's limit": {small, o}, "both": {small, small},
		} {
			addr, _ := serve(t, a, ends.server)
			c := dial(t, addr, ends.client)
			fits, over := strings.Repeat("x", limit-overhead), strings.Repeat("x", limit-overhead+1)
			answer = fits
			rp, err := c.DataType(t.Context(), service.DataTypeRequest{Group: fits})
			if err != nil || rp.CnName != fits {
				t.Errorf("%s, at the limit: %d bytes, %v", name, len(rp.CnName), err)
			}
			_, err = c.DataType(t.Context(), service.DataTypeRequest{Group: over})
			wantCode(t, name+", request over it", err, service.ResourceExhausted)
			answer = over
			_, err = c.DataType(t.Context(), service.DataTypeRequest{})
			wantCode(t, name+", answer over it", err, service.ResourceExhausted)
			answer = fits
			if _, err = c.DataType(t.Context(), service.DataTypeRequest{}); err != nil {
				t.Errorf("%s, afterwards: %v", name, err)
			}
		}
		c := both(t, a, o)
		_, err := c.DataType(t.Context(), service.DataTypeRequest{Group: strings.Repeat("x", 4<<20+1)})
		wantCode(t, "4 MiB + 1", err, service.ResourceExhausted)
	})
}
