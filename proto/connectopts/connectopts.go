// Package connectopts holds the knobs of Connect, once for both of its ends. It knows neither the server nor the client.
package connectopts

import (
	"fmt"
	"slices"
	"strings"

	"bakeoff/protocol"
)

// Knobs are the options of Connect alone. Both ends check all of them; each Doc says which end a knob acts on.
var Knobs = []protocol.Knob{
	{Name: "wire", Doc: "client: connect, grpc or grpc-web, which one handler answers alike", Default: Connect},
	{Name: "codec", Doc: "client: proto (the Go protobuf library) or json (its protojson)", Default: Proto},
	{Name: protocol.KnobCompression, Doc: "client: gzip compresses each request and asks for compressed answers, which the library does " +
		"for answers by default; off does neither, as the others", Default: protocol.NoCompression},
}

// The values of the knobs.
const (
	Connect = "connect"
	GRPC    = "grpc"
	GRPCWeb = "grpc-web"
	Proto   = "proto"
	JSON    = "json"
)

// Settings are the knobs that are in force.
type Settings struct {
	Wire        string // Connect, GRPC or GRPCWeb
	JSON        bool
	Compression bool
}

// Parse reads the knobs of o. Its errors name the knob, its value and what it may be.
func Parse(o protocol.Options) (Settings, error) {
	set, err := o.Settings(Knobs)
	if err != nil {
		return Settings{}, err
	}
	for _, k := range []struct {
		name string
		may  []string
	}{{"wire", []string{Connect, GRPC, GRPCWeb}}, {"codec", []string{Proto, JSON}}} {
		if !slices.Contains(k.may, set[k.name]) {
			return Settings{}, fmt.Errorf("option %s: %q is none of %s", k.name, set[k.name], strings.Join(k.may, ", "))
		}
	}
	zip, err := protocol.Compressed(set[protocol.KnobCompression])
	if err != nil {
		return Settings{}, err
	}
	return Settings{Wire: set["wire"], JSON: set["codec"] == JSON, Compression: zip}, nil
}
