package workload

import (
	"context"
	"slices"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// Scenario is a user's session, in the steps of the published one. That logged in once for all iterations; here each iteration
// is a session of its own, so that the login is a step with figures too. Verification and execution are look-ups that the token
// opens: of the one published data type, and of one drawn from the rest of the catalogue.
var Scenario = Workload{
	Name:     "scenario",
	Doc:      "log in, then with the token verification (look up the published data type) and execution (look up another of the catalogue)",
	Steps:    []string{"login", "verification", "execution"},
	Calls:    []service.Call{service.CallLogin, service.CallDataType},
	Messages: 1,
	Token:    true,
	Start: func(_ context.Context, api service.API, s Settings) ([]load.Call, error) {
		others, r := slices.DeleteFunc(service.Catalogue(), func(e service.CatalogueEntry) bool { return e.Group == known.Group && e.Name == known.Name }), random(s)
		v := &session{api: api, client: service.LoginRequest{ClientID: s.ClientID, Secret: s.Secret}}
		return []load.Call{
			v.login,
			func(ctx context.Context, _ uint64) error { return v.lookUp(ctx, &known) },
			func(ctx context.Context, _ uint64) error { return v.lookUp(ctx, &others[r.IntN(len(others))]) },
		}, nil
	},
}

// session is what the steps of one worker's iteration hand on.
type session struct {
	api    service.API
	client service.LoginRequest
	token  string
}

func (v *session) login(ctx context.Context, _ uint64) error {
	got, err := v.api.Login(ctx, v.client)
	if err != nil {
		return err
	}
	if v.token = got.Token; v.token == "" {
		return &wrongAnswer{got, "a token"}
	}
	return nil
}

func (v *session) lookUp(ctx context.Context, e *service.CatalogueEntry) error {
	got, err := v.api.DataType(ctx, service.DataTypeRequest{
		Auth: service.Auth{ClientID: v.client.ClientID, Token: v.token}, Group: e.Group, Name: e.Name,
	})
	if err != nil {
		return err
	}
	if got.CodeID != e.Code || got.CnName != e.CnName {
		return &wrongAnswer{got, *e}
	}
	if v.token = got.Token; v.token == "" {
		return &wrongAnswer{got, "a token for the next call"}
	}
	return nil
}
