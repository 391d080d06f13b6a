package workload

import (
	"context"
	"fmt"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// listed is how many features the rectangle of ListFeatures holds.
const listed = 20

// ListFeatures is RouteGuide's stream from the server.
var ListFeatures = Workload{
	Name:     "listfeatures",
	Doc:      fmt.Sprintf("have the server stream the %d places of a rectangle", listed),
	Steps:    []string{"listfeatures"},
	Calls:    []service.Call{service.CallListFeatures},
	Messages: listed,
	Asks:     map[string]float64{"batch": 1},
	Start: func(_ context.Context, api service.API, _ Settings) ([]load.Call, error) {
		area, ok := service.Area(listed)
		if !ok {
			return nil, fmt.Errorf("no rectangle holds exactly %d of the places", listed)
		}
		return one(func(ctx context.Context, _ uint64) error {
			n := 0
			for f, err := range api.ListFeatures(ctx, area) {
				if err != nil {
					return err
				}
				if f.Name == "" {
					return &wrongAnswer{f, "a place with a name"}
				}
				n++
			}
			if n != listed {
				return &wrongAnswer{fmt.Sprint(n, " features"), listed}
			}
			return nil
		})
	},
}
