// Package httpapi is what the two ends of HTTP agree on: the paths, the JSON of every message and its codec, the
// problem bodies (RFC 9457) and the status of each service.Code, the framing of NDJSON and of the chat, the
// options, and the OpenAPI file that says all of it to others. It knows the service's types and neither a server
// nor a client.
package httpapi

import (
	_ "embed"
	"fmt"
	"strings"

	"bakeoff/protocol"
)

// OpenAPI is the description that the server hands out at PathOpenAPI.
//
//go:embed openapi.json
var OpenAPI []byte

// The paths. A feature is at PathFeatures + "/" + FormatPoint.
const (
	PathDataType = "/v1/datatype"
	PathLogin    = "/v1/login"
	PathFeatures = "/v1/features"
	PathRoutes   = "/v1/routes"
	PathChat     = "/v1/chat"
	PathOpenAPI  = "/openapi.json"
	PathHealth   = "/healthz"
)

// The media types.
const (
	TypeJSON    = "application/json"
	TypeNDJSON  = "application/x-ndjson"
	TypeProblem = "application/problem+json"
)

// TokenCookie is the name of the cookie that carries the token.
const TokenCookie = "token"

// The names of the options.
const (
	KnobCodec   = "codec"
	KnobHeaders = "headers"
)

// Knobs are the options of HTTP; both ends read them with Read.
var Knobs = []protocol.Knob{
	{Name: KnobCodec, Default: "std", Doc: "what turns messages into JSON and back: std (encoding/json) or fast (written by hand for the hot " +
		"messages; whatever they do not expect goes to encoding/json, so that both mean the same)"},
	{Name: KnobHeaders, Default: "on", Doc: "the headers that fasthttp sends by itself and nobody here reads: on, or off (no User-Agent, " +
		"Server, Date, and no Content-Type beside JSON)"},
}

// Settings are the options that are in force.
type Settings struct {
	Codec Codec
	// Headers says whether the headers are sent that neither end needs.
	Headers bool
}

// ALPN is what HTTP/1.1 is called in a handshake of TLS.
const ALPN = "http/1.1"

// Read reads the options of HTTP from o, and refuses others and other values.
func Read(o protocol.Options) (Settings, error) {
	set, err := o.Settings(Knobs)
	if err != nil {
		return Settings{}, err
	}
	codec, err := choice(set, KnobCodec, "std", "fast")
	if err != nil {
		return Settings{}, err
	}
	headers, err := choice(set, KnobHeaders, "on", "off")
	if err != nil {
		return Settings{}, err
	}
	return Settings{Codec: Codec{Fast: codec == "fast"}, Headers: headers == "on"}, nil
}

func choice(set map[string]string, name string, values ...string) (string, error) {
	for _, v := range values {
		if set[name] == v {
			return v, nil
		}
	}
	return "", fmt.Errorf("option %q: %q is none of %s", name, set[name], strings.Join(values, ", "))
}
