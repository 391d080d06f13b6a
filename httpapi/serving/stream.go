package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"bakeoff/httpapi"
	"bakeoff/service"
)

// List is the answer of one ListFeatures: one feature a line, as the rules find them. A failure before the first is an
// answer of its own; a later one is the last line. End it by Send or Stop.
type List struct {
	// Empty says that there are no lines.
	Empty bool

	r    *Rules
	next func() (service.Feature, error, bool)
	stop func()
	f    service.Feature // the first
}

// List asks the rules for the features of the area that the request's query names. query is its lo, then its hi.
func (r *Rules) List(ctx context.Context, query func(name string) string) (*List, error) {
	var area service.Rectangle
	for _, q := range []struct {
		name string
		to   *service.Point
	}{{"lo", &area.Lo}, {"hi", &area.Hi}} {
		p, err := httpapi.ParsePoint("query "+q.name, query(q.name))
		if err != nil {
			return nil, err
		}
		*q.to = p
	}
	l := &List{r: r}
	l.next, l.stop = iter.Pull2(r.API.ListFeatures(ctx, area))
	f, err, more := l.next()
	if err != nil {
		l.stop()
		return nil, err
	}
	l.f, l.Empty = f, !more
	return l, nil
}

// Stop ends a list that is not sent.
func (l *List) Stop() { l.stop() }

// Send hands the lines in pieces to send, and ends with the list, or when send fails.
func (l *List) Send(send func(piece []byte) error) {
	defer l.stop()
	out := httpapi.NewBatch(send)
	defer out.Close()
	f, err, more := l.f, error(nil), !l.Empty
	for more {
		if err != nil {
			_ = out.Add(func(dst []byte) ([]byte, error) { return httpapi.AppendFailure(dst, err), nil })
			return
		}
		if out.Add(func(dst []byte) ([]byte, error) { return l.r.Codec.AppendFeature(dst, f) }) != nil {
			return // the client is gone
		}
		f, err, more = l.next()
	}
}

// Arrived is the error of RecordRoute where what arrived was at fault, whatever the rules made of it. BadBody knows the
// problem of what is in it.
type Arrived struct{ Err error }

func (a *Arrived) Error() string { return a.Err.Error() }
func (a *Arrived) Unwrap() error { return a.Err }

// Record hands the points to the rules as they arrive, and appends the answer to out. A nil body is no points.
func (r *Rules) Record(ctx context.Context, body io.Reader, out []byte) ([]byte, error) {
	up := &upload{body: body, r: r}
	sum, err := r.API.RecordRoute(ctx, up.points)
	if up.err != nil {
		return out, &Arrived{up.err}
	}
	if err != nil {
		return out, err
	}
	answer, err := r.Codec.AppendSummary(out, sum)
	if err == nil && len(answer) > r.Max {
		err = httpapi.TooLarge("answer", r.Max)
	}
	return answer, err
}

// upload is the request of one RecordRoute call.
type upload struct {
	body io.Reader
	r    *Rules
	err  error
}

// points is the sequence for the rules.
func (u *upload) points(yield func(service.Point, error) bool) {
	if u.body == nil {
		return
	}
	lines := httpapi.NewLines(u.body, u.r.Max)
	for {
		line, err := lines.Next()
		var p service.Point
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return
		case errors.Is(err, httpapi.ErrLineTooLong):
			err = httpapi.TooLarge(fmt.Sprintf("point in line %d", lines.N), u.r.Max)
		case err == nil:
			if p, err = u.r.Codec.DecodePoint(line); err != nil {
				err = service.Errorf(service.InvalidArgument, "message %d: %s", lines.N, service.AsError(err).Msg)
			}
		}
		if err != nil {
			u.err = err
			yield(service.Point{}, err)
			return
		}
		if !yield(p, nil) {
			return
		}
	}
}

// Patient reads a body, and gives its sender the idle time anew, now and then, as long as it keeps sending.
type Patient struct {
	Body io.Reader
	Idle time.Duration
	// Extend sets the time until which the body is waited for.
	Extend func(until time.Time) error

	armed time.Time // when it was last set
}

// Read reads the body.
func (p *Patient) Read(b []byte) (int, error) {
	if now := time.Now(); now.Sub(p.armed) > p.Idle/16 {
		if !p.armed.IsZero() {
			_ = p.Extend(now.Add(p.Idle))
		}
		p.armed = now
	}
	return p.Body.Read(b)
}
