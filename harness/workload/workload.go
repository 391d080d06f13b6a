// Package workload holds the mixes of API calls that a load is made of, one file each. A workload does not
// know which protocol carries it.
package workload

import (
	"context"
	"fmt"
	"math/rand/v2"

	"bakeoff/harness/load"
	"bakeoff/internal/nearest"
	"bakeoff/service"
)

// All lists the workloads, the default first.
var All = append([]Workload{DataType, DataTypeCatalogue, GetFeature, RecordRoute, RecordRoute100, ListFeatures, RouteChat, Scenario}, Payloads...)

// Find returns the workload of that name, or an error with the names that there are.
func Find(name string) (Workload, error) {
	names := make([]string, len(All))
	for i, w := range All {
		if w.Name == name {
			return w, nil
		}
		names[i] = w.Name
	}
	return Workload{}, nearest.Unknown("workload", name, names)
}

// Workload is a documented value: what one iteration of the load calls.
type Workload struct {
	Name string
	Doc  string
	// Steps names the calls of one iteration in their order; most workloads have one.
	Steps []string
	// Calls are those that an iteration asks for. With Settings.Auth those of Login are asked for before, too.
	Calls []service.Call
	// Messages is how many messages one iteration streams, both ways added up; 1 for a unary call. A rate of calls
	// says little without it: a route of 100 points is not a route of two.
	Messages int
	// Asks is how many operations of each kind ("read", "write", "batch": an operation on many records) one iteration asks
	// of a store in which nothing is missing; nil where that is not fixed.
	Asks map[string]float64
	// NoAuth says why the calls can't send a token; empty if they can, or send none anyway.
	NoAuth string
	// Token says that the calls log in and send a token whether or not they are told to, so that servers are to check it.
	Token bool
	// Shared says that without Auth the calls keep nothing of a worker's, so that those of one worker can be those of all, at the same time.
	// What each of many workers has of its own is gone from the nearest caches when its turn comes, 1 % of what a call of gRPC's costs.
	Shared bool
	// Start prepares the calls of one worker, one for each step. It may call the API (a login). Seed and worker
	// make its random choices repeatable. Each call checks its answer: a wrong one is an error of class
	// "wrong_answer". The calls are one worker's: they keep state, such as a token, and need no locks.
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

// wrongAnswer is an answer that came well and says something else than it must.
type wrongAnswer struct{ got, want any }

func (e *wrongAnswer) Error() string {
	return fmt.Sprintf("the answer is %+v, want %+v", e.got, e.want)
}

// Class is the outcome class.
func (e *wrongAnswer) Class() string { return "wrong_answer" }

// random is a worker's own source, the same for the same seed and worker.
func random(s Settings) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, uint64(s.Worker))) }

// one makes a worker's calls of a single step.
func one(call load.Call) ([]load.Call, error) { return []load.Call{call}, nil }
