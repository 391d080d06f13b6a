package workload

import (
	"context"
	"errors"
	"fmt"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// Payloads are one unary call with bodies of six sizes, the smallest first.
var Payloads = []Workload{
	payload("payload-0", 0), payload("payload-100", 100), payload("payload-1k", 1<<10),
	payload("payload-10k", 10<<10), payload("payload-100k", 100<<10), payload("payload-1m", 1<<20),
}

// payload makes the look-up of the published data type with a body of n bytes of text, which the answer brings back. The published
// IDLs have no call that echoes. Without auth a server gives each token back as it came, whatever it is, so the body stands
// there: no IDL changes, the store is asked for the same as ever, and every protocol carries the same message. It is text, as the
// IDLs have no bytes.
func payload(name string, n int) Workload {
	return Workload{
		Name:     name,
		Doc:      fmt.Sprintf("look up the published data type with %d bytes of text, which the answer brings back", n),
		Steps:    []string{"payload"},
		Messages: 1,
		Asks:     map[string]float64{"read": 1},
		NoAuth:   noRoomForToken,
		Start: func(_ context.Context, api service.API, s Settings) ([]load.Call, error) {
			if s.Auth {
				return nil, errors.New(noRoomForToken)
			}
			request := service.DataTypeRequest{Auth: service.Auth{Token: text(n)}, Group: known.Group, Name: known.Name}
			return one(func(ctx context.Context, _ uint64) error {
				got, err := api.DataType(ctx, request)
				switch {
				case err != nil:
					return err
				case got.CodeID != known.Code || got.CnName != known.CnName:
					return &wrongAnswer{service.DataType{CodeID: got.CodeID, CnName: got.CnName}, known}
				case got.Token != request.Auth.Token:
					return &wrongAnswer{fmt.Sprint("a body of ", len(got.Token), " bytes"), fmt.Sprint("the one that was sent, of ", n)}
				}
				return nil
			})
		},
	}
}

const noRoomForToken = "its body stands where the token would"

// text is n bytes of letters and digits, not all the same, so that a part that is lost or out of place shows.
func text(n int) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ."
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[(i+i/len(letters))%len(letters)]
	}
	return string(b)
}
