package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strings"

	"bakeoff/service"
)

var routeVectors = []Vector{
	{"feature",
		"GetFeature names a known place, answers an unknown one with its location and no name, and refuses what is off the earth",
		"signs and zeros of coordinates, and the mapping of errors", feature},
	{"rectangle",
		"ListFeatures finds what lies in a rectangle, its corners in either order, borders included",
		"the four coordinates of a rectangle", rectangle},
	{"distance",
		"RecordRoute of the two published points is 13975745 m long, and the least and greatest int32 arrive",
		"numbers that are unsigned, or pass through a float32", recordDistance},
	{"chat",
		"RouteChat answers each note with all that were left at its place, at most ten, the new one last",
		"order and grouping of answers", chat},
	{"zeros",
		"a message in which nothing is set is one of zeros: a point and a note without text at 0, 0 arrive, and count",
		"absent fields, and messages of no bytes, in the wire's conversion", zeros},
}

// Places of the service's own list: two that are neighbours, and one whose coordinates are both negative.
var (
	eluanbi = service.Feature{Name: "Eluanbi Lighthouse", Location: service.Point{Latitude: 21_9022000, Longitude: 120_8528000}}
	kenting = service.Feature{Name: "Kenting", Location: service.Point{Latitude: 21_9460000, Longitude: 120_7980000}}
	cape    = service.Feature{Name: "Cape Horn", Location: service.Point{Latitude: -55_9797000, Longitude: -67_2717000}}
)

func feature(ctx context.Context, e *Env) error {
	for _, want := range []service.Feature{
		eluanbi, cape,
		{Location: service.Point{}},
		{Location: service.Point{Latitude: 1, Longitude: -1}},
		{Location: service.Point{Latitude: -90_0000000, Longitude: 180_0000000}},
	} {
		got, err := e.Client.GetFeature(ctx, want.Location)
		if err != nil {
			return fmt.Errorf("GetFeature %+v: got error %w", want.Location, err)
		}
		if err := same(fmt.Sprintf("GetFeature %+v", want.Location), got, want); err != nil {
			return err
		}
	}
	for p, msg := range map[service.Point]string{
		{Latitude: 90_0000001}:                           "latitude 900000001 is out of range: it must lie within ±900000000",
		{Latitude: math.MinInt32}:                        "latitude -2147483648 is out of range: it must lie within ±900000000",
		{Longitude: -180_0000001}:                        "longitude -1800000001 is out of range: it must lie within ±1800000000",
		{Longitude: math.MaxInt32}:                       "longitude 2147483647 is out of range: it must lie within ±1800000000",
		{Latitude: 1, Longitude: -math.MaxInt32}:         "longitude -2147483647 is out of range: it must lie within ±1800000000",
		{Latitude: -90_0000001, Longitude: -180_0000001}: "latitude -900000001 is out of range: it must lie within ±900000000",
	} {
		_, err := e.Client.GetFeature(ctx, p)
		_, errList := service.Collect(e.Client.ListFeatures(ctx, service.Rectangle{Hi: p}))
		_, errRecord := e.Client.RecordRoute(ctx, service.All([]service.Point{{}, p}))
		_, errChat := service.Collect(e.Client.RouteChat(ctx, service.All([]service.RouteNote{{Location: p}})))
		if err := errors.Join(
			fails(fmt.Sprintf("GetFeature %+v", p), err, service.InvalidArgument, msg),
			fails(fmt.Sprintf("ListFeatures up to %+v", p), errList, service.InvalidArgument, msg),
			fails(fmt.Sprintf("RecordRoute to %+v", p), errRecord, service.InvalidArgument, msg),
			fails(fmt.Sprintf("RouteChat at %+v", p), errChat, service.InvalidArgument, msg),
		); err != nil {
			return err
		}
	}
	return nil
}

func rectangle(ctx context.Context, e *Env) error {
	lo := service.Point{Latitude: eluanbi.Location.Latitude, Longitude: kenting.Location.Longitude}
	hi := service.Point{Latitude: kenting.Location.Latitude, Longitude: eluanbi.Location.Longitude}
	for _, c := range []struct {
		what string
		r    service.Rectangle
		want []service.Feature
	}{
		{"both on the border", service.Rectangle{Lo: lo, Hi: hi}, []service.Feature{eluanbi, kenting}},
		{"corners the other way round", service.Rectangle{Lo: hi, Hi: lo}, []service.Feature{eluanbi, kenting}},
		{"corners crossed", service.Rectangle{
			Lo: service.Point{Latitude: lo.Latitude, Longitude: hi.Longitude},
			Hi: service.Point{Latitude: hi.Latitude, Longitude: lo.Longitude}}, []service.Feature{eluanbi, kenting}},
		{"one on the border", service.Rectangle{Lo: lo, Hi: service.Point{Latitude: hi.Latitude - 1, Longitude: hi.Longitude}}, []service.Feature{eluanbi}},
		{"one point", service.Rectangle{Lo: cape.Location, Hi: cape.Location}, []service.Feature{cape}},
		{"nothing there", service.Rectangle{Lo: service.Point{Latitude: 1, Longitude: 1}, Hi: service.Point{Latitude: 2, Longitude: 2}}, nil},
		{"all zeros", service.Rectangle{}, nil},
	} {
		got, err := service.Collect(e.Client.ListFeatures(ctx, c.r))
		if err != nil {
			return fmt.Errorf("ListFeatures, %s: got error %w", c.what, err)
		}
		if err := sameAll("ListFeatures, "+c.what, got, c.want); err != nil {
			return err
		}
	}
	return nil
}

func recordDistance(ctx context.Context, e *Env) error {
	points := []service.Point{{Latitude: -46_0000000, Longitude: -116_0000000}, {Latitude: 72_0000000, Longitude: -54_0000000}}
	got, err := e.Client.RecordRoute(ctx, service.All(points))
	if err != nil {
		return fmt.Errorf("RecordRoute of the published points: got error %w", err)
	}
	got.ElapsedTime = 0 // depends on the machine
	if err := same("RecordRoute of the published points", got, service.RouteSummary{PointCount: 2, Distance: 13975745}); err != nil {
		return err
	}
	got, err = e.Client.RecordRoute(ctx, service.All([]service.Point{eluanbi.Location, {}, cape.Location, cape.Location}))
	if err != nil {
		return fmt.Errorf("RecordRoute through 3 features: got error %w", err)
	}
	return same("RecordRoute through 3 features", got.FeatureCount, 3)
}

func chat(ctx context.Context, e *Env) error {
	// A place of this run's own: notes of an earlier run may be in the store still.
	h := fnv.New32a()
	h.Write([]byte(e.Run))
	at := service.Point{Latitude: int32(h.Sum32() % 90_0000000), Longitude: int32(h.Sum32() >> 3 % 180_0000000)}
	beside := service.Point{Latitude: -at.Latitude, Longitude: at.Longitude}
	var notes, want, kept []service.RouteNote
	for i := range 12 {
		n := service.RouteNote{Location: at, Message: fmt.Sprintf("第 %d 則 of %s", i, e.Run)}
		notes, kept = append(notes, n), append(kept, n)
		if len(kept) > 10 {
			kept = kept[1:]
		}
		want = append(want, kept...)
		if i == 1 {
			other := service.RouteNote{Location: beside, Message: ""}
			notes, want = append(notes, other), append(want, other)
		}
	}
	got, err := service.Collect(e.Client.RouteChat(ctx, service.All(notes)))
	if err != nil {
		return fmt.Errorf("RouteChat: got error %w", err)
	}
	if err := sameAll("RouteChat with 13 notes at 2 places", got, want); err != nil {
		return err
	}
	large := service.RouteNote{Location: at, Message: strings.Repeat("x", 64<<10+1)}
	_, err = service.Collect(e.Client.RouteChat(ctx, service.All([]service.RouteNote{large})))
	return fails("a note of 64 KiB + 1", err, service.InvalidArgument, "a note of 65537 bytes: at most 65536 are kept")
}

// zeros leaves its note where other runs leave theirs, so that it looks at the last answer alone, which is the note's own.
func zeros(ctx context.Context, e *Env) error {
	got, err := e.Client.RecordRoute(ctx, service.All(make([]service.Point, 3)))
	if err != nil {
		return fmt.Errorf("RecordRoute of 3 points at 0, 0: got error %w", err)
	}
	got.ElapsedTime = 0 // depends on the machine
	if err := same("RecordRoute of 3 points at 0, 0", got, service.RouteSummary{PointCount: 3}); err != nil {
		return err
	}
	notes, err := service.Collect(e.Client.RouteChat(ctx, service.All(make([]service.RouteNote, 1))))
	switch {
	case err != nil:
		return fmt.Errorf("RouteChat with a note of zeros: got error %w", err)
	case len(notes) == 0:
		return errors.New("RouteChat with a note of zeros: got no answer, want it back")
	}
	return same("RouteChat with a note of zeros, the last answer", notes[len(notes)-1], service.RouteNote{})
}
