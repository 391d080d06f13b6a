package workload

import (
	"context"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// GetFeature is RouteGuide's unary call.
var GetFeature = Workload{
	Name:     "getfeature",
	Doc:      "ask for the names of places drawn from all that are known",
	Steps:    []string{"getfeature"},
	Calls:    []service.Call{service.CallGetFeature},
	Messages: 1,
	Asks:     map[string]float64{"read": 1},
	Start: func(_ context.Context, api service.API, s Settings) ([]load.Call, error) {
		all, r := service.Places(), random(s)
		return one(func(ctx context.Context, _ uint64) error {
			want := all[r.IntN(len(all))]
			got, err := api.GetFeature(ctx, want.Location)
			if err == nil && got != want {
				err = &wrongAnswer{got, want}
			}
			return err
		})
	},
}
