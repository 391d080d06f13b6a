// Package workload holds the mixes of API calls that a load is made of, one file each. A workload does not
// know which protocol carries it.
package workload

import (
	"context"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// Workload is a documented value: what one iteration of the load calls.
type Workload struct {
	Name string
	Doc  string
	// Steps names the calls of one iteration in their order; most workloads have one.
	Steps []string
	// Messages is how many messages one iteration carries to the server and back, for reports; 1 for a unary call.
	Messages int
	// Start prepares the calls of one worker, one for each step. It may call the API (a login). Seed and worker
	// make its random choices repeatable.
	Start func(ctx context.Context, api service.API, s Settings) ([]load.Call, error)
}

// Settings are what a workload may be told.
type Settings struct {
	Seed   uint64
	Worker int
	// Auth sends the client's id and token with each request, and follows renewed tokens.
	Auth     bool
	ClientID string
	Secret   string
}
