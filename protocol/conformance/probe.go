package conformance

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"bakeoff/service"
)

// Group is the data type group that Probe answers in place of the rules, without looking at the token. The
// name says what is wanted, as "verb:argument":
//
//	echo:TEXT         CnName is TEXT, CodeID its length in bytes
//	int:N             CodeID is N
//	large:N           CnName is N bytes long
//	sleep:DURATION    the answer comes after that time, at most 5 s, or when the context ends
//	error:CODE:CAUSE:TEXT  fails with the code of that number, CAUSE (it may be empty) and TEXT as message
//	auth:             CnName is the request's client id and token, joined by a space
//	expired:          CnName is a token of the request's client id that has expired
//	attempt:ID        fails with unavailable; the message is how many times this ID was called: "attempt 1"
//	attempts:ID       CodeID is that count
//
// Token is the request's own, always.
const Group = "conformance"

// Marker is the place that Probe takes for itself. As the first point of a route it asks Probe to compare the points
// after it with Place(0), Place(1) and so on; PointCount is their number, FeatureCount how many were right, Distance
// and ElapsedTime are the least and the largest int32. As the lower corner of a rectangle it asks for as many features as the
// latitude of the upper corner, numbered by PlaceName and Place; its longitude is what happens besides (see After).
// A note whose longitude is Marker's is answered once, by itself.
var Marker = service.Point{Latitude: -89_9999999, Longitude: -179_9999999}

// What happens besides the features that were asked for: nothing, an error after them (code internal, message
// StreamError, cause StreamCause), or a wait of a second before them.
const (
	AfterNothing = 0
	AfterError   = 1
	BeforeWait   = 2
)

// StreamError and StreamCause are the message and the cause of the error that ends a sequence on demand.
const (
	StreamError = "the sequence ends here"
	StreamCause = "planted_end"
)

// Place is the place of element i of a planted sequence.
func Place(i int) service.Point {
	return service.Point{Latitude: int32(i), Longitude: int32(-i)}
}

// PlaceName is the name of element i of a planted sequence of features.
func PlaceName(i int) string { return "地點 " + strconv.Itoa(i) }

const maxSleep = 5 * time.Second

// Probe puts the planted behaviours around the rules. The rules answer everything else. It costs a comparison a
// call, so a server that is measured should not have it.
func Probe(api service.API) service.API { return &probe{API: api, attempts: make(map[string]int64)} }

type probe struct {
	service.API
	mu       sync.Mutex
	attempts map[string]int64
}

func (p *probe) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	if r.Group != Group {
		return p.API.DataType(ctx, r)
	}
	d := service.DataType{Token: r.Auth.Token}
	verb, arg, _ := strings.Cut(r.Name, ":")
	var err error
	switch verb {
	case "echo":
		d.CnName, d.CodeID = arg, int64(len(arg))
	case "int":
		d.CodeID, err = strconv.ParseInt(arg, 10, 64)
	case "large":
		var n int
		if n, err = strconv.Atoi(arg); err == nil && n >= 0 && n <= 64<<20 {
			d.CnName = strings.Repeat("x", n)
		}
	case "sleep":
		var wait time.Duration
		if wait, err = time.ParseDuration(arg); err == nil {
			err = sleep(ctx, wait)
			d.CnName = arg
		}
	case "error":
		err = plantedError(arg)
	case "auth":
		d.CnName = r.Auth.ClientID + " " + r.Auth.Token
	case "expired":
		d.CnName, err = p.expired(r.Auth.ClientID)
	case "attempt":
		err = service.Errorf(service.Unavailable, "attempt %d", p.count(arg, 1))
	case "attempts":
		d.CodeID = p.count(arg, 0)
	default:
		err = fmt.Errorf("no such verb")
	}
	if se, ok := err.(*service.Error); ok {
		return service.DataType{}, se
	}
	if ctx.Err() != nil {
		return service.DataType{}, ctx.Err()
	}
	if err != nil {
		return service.DataType{}, service.Errorf(service.InvalidArgument, "probe %.40q: %v", r.Name, err)
	}
	return d, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(min(d, maxSleep))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func plantedError(arg string) error {
	code, rest, _ := strings.Cut(arg, ":")
	cause, msg, _ := strings.Cut(rest, ":")
	n, err := strconv.ParseInt(code, 10, 32)
	if err != nil {
		return err
	}
	return &service.Error{Code: service.Code(n), Msg: msg, Cause: cause}
}

func (p *probe) expired(clientID string) (string, error) {
	issuer, ok := p.API.(interface {
		Expired(clientID string) service.Session
	})
	if !ok {
		return "", service.Errorf(service.Internal,
			"conformance.Probe stands around %T, which has no method Expired; put it next to *service.Service", p.API)
	}
	return issuer.Expired(clientID).Token, nil
}

// count bounds its memory by forgetting everything at times; a run needs its own few ids only.
func (p *probe) count(id string, add int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.attempts) > 10_000 {
		clear(p.attempts)
	}
	if add != 0 {
		p.attempts[id] += add
	}
	return p.attempts[id]
}

func (p *probe) ListFeatures(ctx context.Context, r service.Rectangle) iter.Seq2[service.Feature, error] {
	if r.Lo != Marker {
		return p.API.ListFeatures(ctx, r)
	}
	return func(yield func(service.Feature, error) bool) {
		if r.Hi.Longitude == BeforeWait {
			if err := sleep(ctx, time.Second); err != nil {
				yield(service.Feature{}, err)
				return
			}
		}
		for i := range int(r.Hi.Latitude) {
			if err := ctx.Err(); err != nil {
				yield(service.Feature{}, err)
				return
			}
			if !yield(service.Feature{Name: PlaceName(i), Location: Place(i)}, nil) {
				return
			}
		}
		if r.Hi.Longitude == AfterError {
			yield(service.Feature{}, &service.Error{Code: service.Internal, Msg: StreamError, Cause: StreamCause})
		}
	}
}

// RecordRoute hands the rules a sequence that is taken away from them if it begins with Marker.
func (p *probe) RecordRoute(ctx context.Context, points iter.Seq2[service.Point, error]) (service.RouteSummary, error) {
	var (
		planted, begun bool
		fault          error
		sum            = service.RouteSummary{Distance: math.MinInt32, ElapsedTime: math.MaxInt32}
	)
	answer, err := p.API.RecordRoute(ctx, func(yield func(service.Point, error) bool) {
		for pt, err := range points {
			switch {
			case !begun && err == nil && pt == Marker:
				planted = true
			case !planted:
				if !yield(pt, err) {
					return
				}
			case err != nil:
				fault = err
				return
			default:
				if pt == Place(int(sum.PointCount)) {
					sum.FeatureCount++
				}
				sum.PointCount++
			}
			begun = true
		}
	})
	switch {
	case !planted:
		return answer, err
	case fault != nil:
		return service.RouteSummary{}, fault
	}
	return sum, nil
}

// RouteChat asks the rules note by note, which by their contract makes no difference.
func (p *probe) RouteChat(ctx context.Context, notes iter.Seq2[service.RouteNote, error]) iter.Seq2[service.RouteNote, error] {
	return func(yield func(service.RouteNote, error) bool) {
		for n, err := range notes {
			if err != nil || n.Location.Longitude == Marker.Longitude {
				if !yield(n, err) || err != nil {
					return
				}
				continue
			}
			for answer, err := range p.API.RouteChat(ctx, service.All([]service.RouteNote{n})) {
				if !yield(answer, err) || err != nil {
					return
				}
			}
		}
	}
}
