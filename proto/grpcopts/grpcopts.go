// Package grpcopts holds the knobs of gRPC, once for both of its ends: their list, their ranges, and the codec that
// one of them chooses. It knows neither the server nor the client.
package grpcopts

import (
	"fmt"
	"math"
	"strconv"

	"bakeoff/protocol"
)

// Knobs are the options of gRPC alone. Both ends check all of them; each Doc says which end a knob acts on.
var Knobs = []protocol.Knob{
	{Name: "stream-workers", Doc: "server: handle calls in this many standing goroutines instead of a new one each " +
		"(0: off; auto: as many as the calls in flight)"},
	{Name: "window", Doc: "both ends: fixed flow-control window of each stream and connection in bytes, 65535 and up, " +
		"without the pings that would size it (empty: grpc-go sizes it)"},
	{Name: "shared-write-buffer", Doc: "both ends: on takes a connection's write buffer from a pool for each flush, " +
		"off keeps one for each connection (empty: on, by grpc-go's default)"},
	{Name: "read-buffer", Doc: "both ends: bytes read from a socket at a time " +
		"(empty: 32768; 0: no buffer, which costs a read for each frame's header)"},
	{Name: "write-buffer", Doc: "both ends: bytes gathered before a write to a socket (empty: 32768; 0: none are gathered)"},
	{Name: "codec", Doc: "both ends: proto (the Go protobuf library) or vtproto (code generated for each message); " +
		"the bytes are the same", Default: "proto"},
	{Name: protocol.KnobCompression, Doc: "both ends: gzip compresses each message; off", Default: protocol.NoCompression},
	{Name: "reflection", Doc: "server: on answers gRPCurl's and ghz's questions about its services (v1 and v1alpha)", Default: "off"},
}

// ALPN is what gRPC is called in a handshake of TLS.
const ALPN = "h2"

// The names of the codecs.
const (
	Proto   = "proto"
	VTProto = "vtproto"
)

// minWindow is the smallest window that HTTP/2 starts with; grpc-go ignores smaller ones without a word.
const minWindow = 65535

// maxBuffer is the largest buffer for a socket: there is one for each connection, so a larger one is a slip of the pen.
const maxBuffer = 1 << 30

// Settings are the knobs that are in force. A nil pointer leaves the library's own value.
type Settings struct {
	// StreamWorkers is the number of standing goroutines of a server; 0 is none.
	StreamWorkers     uint32
	Window            *int32
	SharedWriteBuffer *bool
	ReadBuffer        *int
	WriteBuffer       *int
	// Codec is Proto or VTProto.
	Codec       string
	Compression bool
	Reflection  bool
}

// Parse reads the knobs of o. Its errors name the knob, its value and what it may be.
func Parse(o protocol.Options) (Settings, error) {
	set, err := o.Settings(Knobs)
	if err != nil {
		return Settings{}, err
	}
	var s Settings
	if s.StreamWorkers, err = streamWorkers(set["stream-workers"], o.Defaulted().InFlight); err != nil {
		return Settings{}, err
	}
	if v := set["window"]; v != "" {
		n, err := bytes("window", v, minWindow, math.MaxInt32)
		if err != nil {
			return Settings{}, err
		}
		window := int32(n)
		s.Window = &window
	}
	if v := set["shared-write-buffer"]; v != "" {
		on, err := onOff("shared-write-buffer", v)
		if err != nil {
			return Settings{}, err
		}
		s.SharedWriteBuffer = &on
	}
	for _, b := range []struct {
		name string
		to   **int
	}{{"read-buffer", &s.ReadBuffer}, {"write-buffer", &s.WriteBuffer}} {
		v := set[b.name]
		if v == "" {
			continue
		}
		n, err := bytes(b.name, v, 0, maxBuffer)
		if err != nil {
			return Settings{}, err
		}
		*b.to = &n
	}
	switch s.Codec = set["codec"]; s.Codec {
	case Proto, VTProto:
	default:
		return Settings{}, fmt.Errorf("option codec: %q is neither %s nor %s", s.Codec, Proto, VTProto)
	}
	if s.Compression, err = protocol.Compressed(set[protocol.KnobCompression]); err != nil {
		return Settings{}, err
	}
	if s.Reflection, err = onOff("reflection", set["reflection"]); err != nil {
		return Settings{}, err
	}
	return s, nil
}

func streamWorkers(v string, inFlight int) (uint32, error) {
	switch v {
	case "":
		return 0, nil
	case "auto":
		return uint32(min(inFlight, maxWorkers)), nil
	}
	n, err := strconv.ParseUint(v, 10, 32)
	if err != nil || n > maxWorkers {
		return 0, fmt.Errorf("option stream-workers: %q is neither auto nor a number from 0 to %d", v, maxWorkers)
	}
	return uint32(n), nil
}

// maxWorkers bounds the goroutines that a server starts before its first call.
const maxWorkers = 1 << 16

func bytes(name, v string, low, high int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, fmt.Errorf("option %s: %q is not a number of bytes", name, v)
	}
	if n < low || n > high {
		return 0, fmt.Errorf("option %s: %d bytes are not within %d and %d", name, n, low, high)
	}
	return n, nil
}

func onOff(name, v string) (bool, error) {
	switch v {
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return false, fmt.Errorf("option %s: %q is neither on nor off", name, v)
}
