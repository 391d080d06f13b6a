package conformance

import (
	"context"
	"slices"

	"bakeoff/protocol"
)

// Plain are the vectors that ask for nothing planted: any server of the rules that lets the demo client in passes them, with
// auth or without. They are about what calls are answered, and not about what goes wrong.
var Plain = slices.DeleteFunc(slices.Clone(Vectors), func(v Vector) bool {
	return !slices.Contains([]string{"hit", "miss", "login", "login-refused", "refused", "unknown-option", "feature", "rectangle", "distance", "chat", "zeros", "bytes"}, v.Name)
})

// Probed says whether the server at addr answers planted calls, so that Run can hold it to all vectors.
func Probed(ctx context.Context, subject protocol.Protocol, addr string) bool {
	return checkWithin(ctx, hearLimit, subject, addr, Vectors[0]) == nil
}

// RunPlain is Run by the Plain vectors alone, for a server that runs already without Probe.
func RunPlain(ctx context.Context, subject protocol.Protocol, addr string) ([]Difference, error) {
	return run(ctx, subject, addr, Asked(subject, Plain))
}
