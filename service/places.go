package service

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed places.csv
var placesFile string

// Where the features and notes are: an id is "latitude,longitude" in units of 1e-7 degree.
const (
	FeatureSet = "route_features"
	NoteSet    = "route_notes"
	binName    = "name"
	binLat     = "lat"
	binLon     = "lon"
	binNotes   = "notes"
)

// Places lists the named places that the service starts with, from south to north: towns, stations, mountains and
// landmarks, over a hundred of them in and around Taiwan, the others all over the world. Their coordinates are
// good to some hundred metres. The slice is the caller's own.
func Places() []Feature { return slices.Clone(places()) }

// places reads our own file once. A mistake in it is ours, and TestPlaces finds it before anybody else.
var places = sync.OnceValue(func() []Feature {
	all, err := parsePlaces(strings.NewReader(placesFile))
	if err != nil {
		panic(err)
	}
	return all
})

// parsePlaces reads lines of name, latitude and longitude in degrees below a heading.
func parsePlaces(r io.Reader) ([]Feature, error) {
	var all []Feature
	seen := map[Point]int{}
	err := eachRow(r, "places.csv", []string{"name", "latitude", "longitude"}, func(line int, f []string) error {
		lat, errLat := parseDegrees(f[1], maxLatitude)
		lon, errLon := parseDegrees(f[2], maxLongitude)
		p := Point{lat, lon}
		switch {
		case f[0] == "":
			return errors.New("an empty name")
		case errLat != nil:
			return fmt.Errorf("latitude: %w", errLat)
		case errLon != nil:
			return fmt.Errorf("longitude: %w", errLon)
		case seen[p] != 0:
			return fmt.Errorf("the place of line %d", seen[p])
		}
		seen[p] = line
		all = append(all, Feature{Name: f[0], Location: p})
		return nil
	})
	slices.SortFunc(all, func(a, b Feature) int { return comparePoints(a.Location, b.Location) })
	return all, err
}

func parseDegrees(s string, limit int32) (int32, error) {
	d, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of degrees", s)
	}
	if e7 := math.Round(d * 1e7); math.Abs(e7) <= float64(limit) {
		return int32(e7), nil
	}
	return 0, fmt.Errorf("%s degrees are beyond the limit of %d", s, limit/1e7)
}

func comparePoints(a, b Point) int {
	return cmp.Or(cmp.Compare(a.Latitude, b.Latitude), cmp.Compare(a.Longitude, b.Longitude))
}

// Area is a rectangle around exactly n of the places, for workloads that want answers of a given length: a band of
// Taiwan that begins in the south. ok is false when there is none with n.
func Area(n int) (r Rectangle, ok bool) {
	r = Rectangle{Lo: Point{21_0000000, 118_0000000}, Hi: Point{21_0000000, 123_0000000}}
	for _, p := range places() {
		if n == 0 {
			return r, true
		}
		if p.Location.Latitude > 27_0000000 {
			break
		}
		if r.Hi.Latitude = p.Location.Latitude; r.contains(p.Location) {
			n--
		}
	}
	return r, n == 0
}

// normal has its corners in the order of their values.
func (r Rectangle) normal() Rectangle {
	return Rectangle{
		Lo: Point{min(r.Lo.Latitude, r.Hi.Latitude), min(r.Lo.Longitude, r.Hi.Longitude)},
		Hi: Point{max(r.Lo.Latitude, r.Hi.Latitude), max(r.Lo.Longitude, r.Hi.Longitude)},
	}
}

// contains needs a normal rectangle.
func (r Rectangle) contains(p Point) bool {
	return p.Latitude >= r.Lo.Latitude && p.Latitude <= r.Hi.Latitude &&
		p.Longitude >= r.Lo.Longitude && p.Longitude <= r.Hi.Longitude
}

// pointKey is the key of what is kept at a place.
func pointKey(set string, p Point) Key {
	var b [len("-900000000,-1800000000")]byte
	id := strconv.AppendInt(b[:0], int64(p.Latitude), 10)
	id = strconv.AppendInt(append(id, ','), int64(p.Longitude), 10)
	return Key{Set: set, ID: string(id)}
}

// seedPlaces puts into the store what it lacks, and leaves what it has.
func (s *Service) seedPlaces(ctx context.Context) error {
	all := places()
	s.places = make([]Point, len(all))
	for i, f := range all {
		s.places[i] = f.Location
	}
	for chunk := range slices.Chunk(all, storeBatch) {
		keys := make([]Key, len(chunk))
		for i, f := range chunk {
			keys[i] = pointKey(FeatureSet, f.Location)
		}
		have, err := s.store.GetMany(ctx, keys)
		if err != nil {
			return err
		}
		for i, f := range chunk {
			if have[i].Bins != nil {
				continue
			}
			bins := Bins{binName: f.Name, binLat: int64(f.Location.Latitude), binLon: int64(f.Location.Longitude)}
			if err := s.store.Create(ctx, keys[i], bins, 0); err != nil && !errors.Is(err, ErrExists) {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return nil
}
