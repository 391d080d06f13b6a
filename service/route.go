package service

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"time"
)

// The public example's limits, in units of 1e-7 degree.
const (
	maxLatitude  = 90_0000000
	maxLongitude = 180_0000000
)

// MaxNote bounds a note's message in bytes: ten of them, with what a database adds to each, stay well below the
// 1 MiB that a record may have.
const MaxNote = 64 << 10

// noteTTL is how long a place's notes are kept after the last one: long enough for any chat, and short enough that
// a bake-off does not fill a database for ever.
const noteTTL = 6 * time.Hour

// storeBatch is how many records are asked for at a time: enough to share the cost of a round trip, and little
// enough memory that a stream of any length costs the same.
const storeBatch = 128

func checkPoint(p Point) error {
	if p.Latitude < -maxLatitude || p.Latitude > maxLatitude {
		return Errorf(InvalidArgument, "latitude %d is out of range: it must lie within ±%d", p.Latitude, maxLatitude)
	}
	if p.Longitude < -maxLongitude || p.Longitude > maxLongitude {
		return Errorf(InvalidArgument, "longitude %d is out of range: it must lie within ±%d", p.Longitude, maxLongitude)
	}
	return nil
}

// GetFeature implements RouteAPI.
func (s *Service) GetFeature(ctx context.Context, p Point) (Feature, error) {
	if err := checkPoint(p); err != nil {
		return Feature{}, err
	}
	rec, err := s.store.Get(ctx, pointKey(FeatureSet, p))
	switch {
	case errors.Is(err, ErrNotFound):
		return Feature{Location: p}, nil
	case err != nil:
		return Feature{}, answerable(err)
	}
	return feature(rec, p)
}

func feature(rec Record, p Point) (Feature, error) {
	name, ok := rec.Bins[binName].(string)
	if !ok {
		return Feature{}, Errorf(Internal, "record %s of set %s: bin %s must be a string", pointKey(FeatureSet, p).ID, FeatureSet, binName)
	}
	return Feature{Name: name, Location: p}, nil
}

// ListFeatures implements RouteAPI. Features come from south to north, and from west to east where the latitude is the same.
func (s *Service) ListFeatures(ctx context.Context, r Rectangle) iter.Seq2[Feature, error] {
	if err := errors.Join(checkPoint(r.Lo), checkPoint(r.Hi)); err != nil {
		return Fail[Feature](AsError(err))
	}
	return func(yield func(Feature, error) bool) {
		r := r.normal()
		from, _ := slices.BinarySearchFunc(s.places, Point{r.Lo.Latitude, math.MinInt32}, comparePoints)
		to, _ := slices.BinarySearchFunc(s.places, Point{r.Hi.Latitude, math.MaxInt32}, comparePoints)
		var in []Point
		for _, p := range s.places[from:to] {
			if r.contains(p) {
				in = append(in, p)
			}
		}
		for chunk := range slices.Chunk(in, storeBatch) {
			if !s.yieldFeatures(ctx, chunk, yield) {
				return
			}
		}
	}
}

// yieldFeatures reads some places from the store; one that has been removed from there is left out.
func (s *Service) yieldFeatures(ctx context.Context, at []Point, yield func(Feature, error) bool) bool {
	keys := make([]Key, len(at))
	for i, p := range at {
		keys[i] = pointKey(FeatureSet, p)
	}
	recs, err := s.store.GetMany(ctx, keys)
	if err != nil {
		yield(Feature{}, answerable(err))
		return false
	}
	for i, rec := range recs {
		if rec.Bins == nil {
			continue
		}
		f, err := feature(rec, at[i])
		if !yield(f, err) || err != nil {
			return false
		}
	}
	return true
}

// RecordRoute implements RouteAPI. It holds at most storeBatch points at a time. Counts and metres stay at the
// largest int32 when they would pass it.
func (s *Service) RecordRoute(ctx context.Context, points iter.Seq2[Point, error]) (RouteSummary, error) {
	var (
		sum         RouteSummary
		last        Point
		first, seen time.Time
	)
	keys := batches.Get().(*[]Key)
	defer func() {
		clear(*keys)
		*keys = (*keys)[:0]
		batches.Put(keys)
	}()
	count := func() error {
		recs, err := s.store.GetMany(ctx, *keys)
		for _, rec := range recs {
			if rec.Bins != nil {
				sum.FeatureCount = plus(sum.FeatureCount, 1)
			}
		}
		*keys = (*keys)[:0]
		return err
	}
	for p, err := range points {
		if err == nil {
			err = checkPoint(p)
		}
		if err != nil {
			return RouteSummary{}, err
		}
		seen = s.now()
		if sum.PointCount == 0 {
			first = seen
		} else {
			sum.Distance = plus(sum.Distance, distance(last, p))
		}
		sum.PointCount, last = plus(sum.PointCount, 1), p
		if *keys = append(*keys, pointKey(FeatureSet, p)); len(*keys) == storeBatch {
			if err := count(); err != nil {
				return RouteSummary{}, answerable(err)
			}
		}
	}
	if len(*keys) > 0 {
		if err := count(); err != nil {
			return RouteSummary{}, answerable(err)
		}
	}
	sum.ElapsedTime = int32(min(seen.Sub(first)/time.Second, math.MaxInt32))
	return sum, nil
}

var batches = sync.Pool{New: func() any {
	keys := make([]Key, 0, storeBatch)
	return &keys
}}

// plus adds what is not negative, up to the largest int32.
func plus(a, b int32) int32 {
	return int32(min(int64(a)+int64(b), math.MaxInt32))
}

// distance is the great circle's length in whole metres, cut and not rounded, by the haversine formula over a
// sphere of 6,371,000 m: as the public example has it, so that its published answers hold.
func distance(a, b Point) int32 {
	const radius = 6_371_000
	rad := func(e7 int32) float64 { return float64(e7) / 1e7 * math.Pi / 180 }
	lat1, lat2 := rad(a.Latitude), rad(b.Latitude)
	sinLat := math.Sin((lat2 - lat1) / 2)
	sinLon := math.Sin((rad(b.Longitude) - rad(a.Longitude)) / 2)
	h := min(1, sinLat*sinLat+math.Cos(lat1)*math.Cos(lat2)*sinLon*sinLon)
	return int32(radius * 2 * math.Atan2(math.Sqrt(h), math.Sqrt(1-h)))
}

// RouteChat implements RouteAPI.
func (s *Service) RouteChat(ctx context.Context, notes iter.Seq2[RouteNote, error]) iter.Seq2[RouteNote, error] {
	return func(yield func(RouteNote, error) bool) {
		for n, err := range notes {
			if err == nil {
				err = checkNote(n)
			}
			if err != nil {
				yield(RouteNote{}, err)
				return
			}
			kept, err := s.store.Append(ctx, pointKey(NoteSet, n.Location), binNotes, n.Message, s.notesKept, noteTTL)
			if err != nil {
				yield(RouteNote{}, answerable(err))
				return
			}
			for _, m := range kept {
				if !yield(RouteNote{Location: n.Location, Message: m}, nil) {
					return
				}
			}
		}
	}
}

func checkNote(n RouteNote) error {
	if len(n.Message) > MaxNote {
		return &Error{Code: InvalidArgument, Msg: fmt.Sprintf("a note of %d bytes: at most %d are kept", len(n.Message), MaxNote)}
	}
	return checkPoint(n.Location)
}
