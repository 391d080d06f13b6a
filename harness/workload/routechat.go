package workload

import (
	"context"
	"fmt"

	"bakeoff/harness/load"
	"bakeoff/service"
)

// notes is how many notes an iteration of RouteChat leaves.
const notes = 5

// RouteChat is RouteGuide's stream both ways. Each worker has places of its own, so that a load is not a race for one
// record of the store, and every note at a place has the same text, so that any answer can be checked by itself. From
// a place's tenth visit on, which the warm-up comes to, each note is answered by as many as are kept.
var RouteChat = Workload{
	Name:     "routechat",
	Doc:      fmt.Sprintf("leave %d notes, each at another place, and read the notes that are kept there", notes),
	Steps:    []string{"routechat"},
	Calls:    []service.Call{service.CallRouteChat},
	Messages: notes + notes*service.DefaultNotesKept,
	Asks:     map[string]float64{"write": notes},
	Start: func(_ context.Context, api service.API, s Settings) ([]load.Call, error) {
		sent := make([]service.RouteNote, notes)
		for i := range sent {
			// 1e-7 degree apart in the ocean, where there are no features.
			at := service.Point{Latitude: int32(s.Worker%1000*notes + i), Longitude: int32(s.Worker / 1000)}
			sent[i] = service.RouteNote{Location: at, Message: fmt.Sprintf("note %d of worker %d", i, s.Worker)}
		}
		chat := service.All(sent) // over a slice: it may be read again
		return one(func(ctx context.Context, _ uint64) error {
			last := -1 // the note that the answers are about
			for got, err := range api.RouteChat(ctx, chat) {
				switch {
				case err != nil:
					return err
				case last >= 0 && got == sent[last]:
				case last+1 < len(sent) && got == sent[last+1]:
					last++
				default:
					return &wrongAnswer{got, sent}
				}
			}
			if last+1 < len(sent) {
				return &wrongAnswer{fmt.Sprint("nothing for note ", last+1), sent[last+1]}
			}
			return nil
		})
	},
}
