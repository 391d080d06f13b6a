package workload

import (
	"context"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// RecordRoute is the published route: two points, no feature at either, 13975745 metres apart.
var RecordRoute = recordRoute("recordroute", "stream the two published points to the server",
	func() []service.Point {
		return []service.Point{{Latitude: -460000000, Longitude: -1160000000}, {Latitude: 720000000, Longitude: -540000000}}
	},
	service.RouteSummary{PointCount: 2, Distance: 13975745})

// RecordRoute100 is a route of a hundred points, each of them a place that is known, so that the server's batch read
// finds them all.
var RecordRoute100 = recordRoute("recordroute-100", "stream the 100 southernmost places to the server",
	func() []service.Point {
		var points []service.Point
		for _, f := range service.Places()[:100] {
			points = append(points, f.Location)
		}
		return points
	},
	service.RouteSummary{PointCount: 100, FeatureCount: 100, Distance: metres100})

// metres100 is how long the route over the 100 southernmost of service.Places is. A place more or less changes it;
// a test says to what.
const metres100 = 177979735

// recordRoute makes the workload that streams points. Whole seconds of a stream are not checked: they are the load's.
func recordRoute(name, doc string, points func() []service.Point, want service.RouteSummary) Workload {
	return Workload{
		Name:     name,
		Doc:      doc,
		Steps:    []string{"recordroute"},
		Calls:    []service.Call{service.CallRecordRoute},
		Messages: int(want.PointCount),
		Asks:     map[string]float64{"batch": 1},
		Start: func(_ context.Context, api service.API, _ Settings) ([]load.Call, error) {
			route := service.All(points()) // over a slice: it may be read again
			return one(func(ctx context.Context, _ uint64) error {
				got, err := api.RecordRoute(ctx, route)
				if err != nil {
					return err
				}
				if got.ElapsedTime = 0; got != want {
					return &wrongAnswer{got, want}
				}
				return nil
			})
		},
	}
}
