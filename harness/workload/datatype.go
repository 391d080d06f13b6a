package workload

import (
	"context"
	"fmt"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// DataType is the published experiment's: one key-value pair, looked up over and over.
var DataType = Workload{
	Name:     "datatype",
	Doc:      "look up the one published data type, " + service.KnownGroup + " " + service.KnownName,
	Steps:    []string{"datatype"},
	Calls:    []service.Call{service.CallKnown},
	Messages: 1,
	Asks:     map[string]float64{"read": 1},
	Shared:   true,
	Start: func(ctx context.Context, api service.API, s Settings) ([]load.Call, error) {
		return startLookup(ctx, api, s, func() *service.CatalogueEntry { return &known })
	},
}

// known is read by all workers.
var known = service.CatalogueEntry{
	Group: service.KnownGroup, Name: service.KnownName, Code: service.KnownCode, CnName: service.KnownCnName,
}

// DataTypeCatalogue spreads the reads over many records, so that no cache and no hot key answers for the store.
var DataTypeCatalogue = Workload{
	Name:     "datatype-catalogue",
	Doc:      "look up data types drawn from the whole catalogue",
	Steps:    []string{"datatype"},
	Calls:    []service.Call{service.CallDataType},
	Messages: 1,
	Start: func(ctx context.Context, api service.API, s Settings) ([]load.Call, error) {
		all, r := service.Catalogue(), random(s)
		return startLookup(ctx, api, s, func() *service.CatalogueEntry { return &all[r.IntN(len(all))] })
	},
}

// startLookup makes the calls that look up what draw gives. With auth on it logs in first, and each call sends the
// token that the last answer brought.
func startLookup(ctx context.Context, api service.API, s Settings, draw func() *service.CatalogueEntry) ([]load.Call, error) {
	l := &lookup{api: api, draw: draw, follow: s.Auth}
	if s.Auth {
		session, err := api.Login(ctx, service.LoginRequest{ClientID: s.ClientID, Secret: s.Secret})
		if err != nil {
			return nil, fmt.Errorf("login as %q: %w", s.ClientID, err)
		}
		l.auth = service.Auth{ClientID: s.ClientID, Token: session.Token}
	}
	return one(func(ctx context.Context, _ uint64) error {
		e := l.draw()
		got, err := l.api.DataType(ctx, service.DataTypeRequest{Auth: l.auth, Group: e.Group, Name: e.Name})
		if err != nil {
			return err
		}
		if got.CodeID != e.Code || got.CnName != e.CnName {
			return &wrongAnswer{got, *e}
		}
		if l.follow {
			if got.Token == "" {
				return &wrongAnswer{got, "a token for the next call"}
			}
			l.auth.Token = got.Token
		}
		return nil
	})
}

// lookup is what the calls of one worker need: a cache line, where the variables of a closure are several.
type lookup struct {
	api    service.API
	draw   func() *service.CatalogueEntry
	auth   service.Auth
	follow bool // renewed tokens
}
