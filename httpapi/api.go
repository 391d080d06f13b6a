// Package httpapi is what the two ends of HTTP agree on: the paths, the JSON of every message and its codec, the
// problem bodies (RFC 9457) and the status of each service.Code, the framing of NDJSON and of the chat, the
// options, and the OpenAPI file that says all of it to others. It knows the service's types and neither a server
// nor a client.
package httpapi

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
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
	PathEcho     = "/v1/echo"
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
	KnobKeep    = "keep-alive"
	KnobRead    = "read"
)

// Knobs are the options of HTTP; both ends read them with Read.
var Knobs = []protocol.Knob{
	{Name: KnobCodec, Default: "std", Doc: "what turns messages into JSON and back: std (encoding/json) or fast (written by hand for the hot " +
		"messages; whatever they do not expect goes to encoding/json, so that both mean the same)"},
	{Name: KnobHeaders, Default: "on", Doc: "the headers that the HTTP library sends by itself and nobody here reads: on, or off (no User-Agent, " +
		"Server, Date, and no Content-Type beside JSON)"},
	{Name: protocol.KnobCompression, Default: protocol.NoCompression, Doc: "both ends: gzip compresses the bodies of requests, and of the answers " +
		"to those who accept that (not of streams); off"},
}

// ConnKnobs are the options of ends that look after their connections themselves; such read them with ReadConn.
var ConnKnobs = append(slices.Clone(Knobs),
	protocol.Knob{Name: KnobKeep, Default: "on", Doc: "what becomes of a connection after its call: on (it is kept " +
		"for the next), off (each call has one of its own, which both ends close: ab without -k), or the number of idle ones that the client keeps while it " +
		"closes the others (net/http's Transport keeps 2)"},
	protocol.Knob{Name: KnobRead, Default: "at-once", Doc: "when the client reads after it has sent a request: at-once (as every net.Conn does; the read is in vain, and " +
		"another one follows when the answer is there), or when-ready (not over TLS, where it is as at-once)"})

// Settings are the options that are in force.
type Settings struct {
	Codec Codec
	// Headers says whether the headers are sent that neither end needs.
	Headers bool
	// Compression has a client compress requests and accept such answers, and a server compress answers for those who accept them.
	Compression bool
	// Closing says that a connection carries one call. Idle is how many unused connections the client keeps open; 0 is all.
	Closing bool
	Idle    int
	// WhenReady says that the client waits for an answer before it reads it.
	WhenReady bool
}

// ALPN is what HTTP/1.1 is called in a handshake of TLS.
const ALPN = "http/1.1"

// Read reads the options of HTTP from o, and refuses others and other values.
func Read(o protocol.Options) (Settings, error) {
	set, err := o.Settings(Knobs)
	if err != nil {
		return Settings{}, err
	}
	return read(set)
}

// ReadConn is Read for those who take ConnKnobs.
func ReadConn(o protocol.Options) (Settings, error) {
	set, err := o.Settings(ConnKnobs)
	if err != nil {
		return Settings{}, err
	}
	s, err := read(set)
	if err != nil {
		return Settings{}, err
	}
	reads, err := choice(set, KnobRead, "at-once", "when-ready")
	if err != nil {
		return Settings{}, err
	}
	s.WhenReady = reads == "when-ready"
	switch keep := set[KnobKeep]; keep {
	case "on":
	case "off":
		s.Closing = true
	default:
		if s.Idle, err = strconv.Atoi(keep); err != nil || s.Idle < 1 {
			return Settings{}, fmt.Errorf("option %q: %q is none of on, off, or a number of connections from 1", KnobKeep, keep)
		}
	}
	return s, nil
}

// Kept is how many connections a client keeps open between its calls under these options: -1 is all of them.
func Kept(o protocol.Options) int {
	switch s, err := ReadConn(o); {
	case err != nil || !s.Closing && s.Idle == 0:
		return -1
	default:
		return s.Idle
	}
}

func read(set map[string]string) (Settings, error) {
	codec, err := choice(set, KnobCodec, "std", "fast")
	if err != nil {
		return Settings{}, err
	}
	headers, err := choice(set, KnobHeaders, "on", "off")
	if err != nil {
		return Settings{}, err
	}
	zip, err := protocol.Compressed(set[protocol.KnobCompression])
	if err != nil {
		return Settings{}, err
	}
	return Settings{Codec: Codec{Fast: codec == "fast"}, Headers: headers == "on", Compression: zip}, nil
}

func choice(set map[string]string, name string, values ...string) (string, error) {
	for _, v := range values {
		if set[name] == v {
			return v, nil
		}
	}
	return "", fmt.Errorf("option %q: %q is none of %s", name, set[name], strings.Join(values, ", "))
}
