// Package stack builds the layers of Thrift that both ends of a connection must agree on: which protocol over
// which transport, with which limits. It also has the list of Thrift's own options. It knows neither the
// services nor who serves or calls.
package stack

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"bakeoff/protocol"

	"github.com/apache/thrift/lib/go/thrift"
)

// Knobs are the options of Thrift alone.
var Knobs = []protocol.Knob{
	{Name: "protocol", Default: "binary", Doc: "how messages are encoded: binary or compact"},
	{Name: "transport", Default: "buffered", Doc: "what carries them: buffered, framed (always over buffered: one write a message), " +
		"or http (each call is a POST of HTTP/1.1 on net/http)"},
	{Name: "buffer", Default: "8192", Doc: "bytes of each read and write buffer, 512 to 16777216; a message above it takes further write calls; " +
		"not of http, which has net/http's"},
	{Name: "connectivity-check", Default: "", Doc: "how often the server looks whether a waiting client is still there " +
		"(a goroutine a request); 0 never, empty the library's 5ms"},
	{Name: protocol.KnobCompression, Default: protocol.NoCompression, Doc: "client, and of transport=http alone: " +
		"gzip compresses requests, and the server answers in kind; off"},
}

// Stack is one choice of layers. It is immutable and may be shared.
type Stack struct {
	// Name is the stack as tables show it: "compact over framed".
	Name string
	// Check is the interval of the server's connectivity check; 0 is off.
	Check time.Duration

	http       bool
	zip        bool
	maxMessage int
	slack      int
	conf       *thrift.TConfiguration
	transports thrift.TTransportFactory
	protocols  thrift.TProtocolFactory
}

// New reads the options; an unknown knob or value is refused with those that exist.
func New(o protocol.Options) (*Stack, error) {
	set, err := o.Settings(Knobs)
	if err != nil {
		return nil, err
	}
	o = o.Defaulted()
	if o.MaxMessage > math.MaxInt32 {
		return nil, fmt.Errorf("max message %d: thrift counts sizes in 32 bits, at most %d", o.MaxMessage, math.MaxInt32)
	}
	buffer, err := strconv.Atoi(set["buffer"])
	if err != nil || buffer < 512 || buffer > 16<<20 {
		return nil, fmt.Errorf("option buffer=%q: want a number of bytes from 512 to %d", set["buffer"], 16<<20)
	}
	s := &Stack{
		Name:       set["protocol"] + " over " + set["transport"],
		Check:      thrift.ServerConnectivityCheckInterval,
		maxMessage: o.MaxMessage,
		// What may lie read in the two buffers of a framed transport beyond the message that is being decoded.
		slack: 2*buffer + 4096,
		conf:  &thrift.TConfiguration{MaxMessageSize: int32(o.MaxMessage), MaxFrameSize: int32(o.MaxMessage)},
	}
	if v := set["connectivity-check"]; v != "" {
		if s.Check, err = time.ParseDuration(v); err != nil || s.Check < 0 {
			return nil, fmt.Errorf("option connectivity-check=%q: want a duration such as 5ms, or 0 for never", v)
		}
	}

	s.transports = thrift.NewTBufferedTransportFactory(buffer)
	switch set["transport"] {
	case "buffered":
	case "framed":
		s.transports = thrift.NewTFramedTransportFactoryConf(s.transports, s.conf)
	case "http":
		if given, ok := o.Knobs["buffer"]; ok {
			return nil, fmt.Errorf("option buffer=%q: transport=http has the buffers of net/http: leave it out", given)
		}
		s.http, s.transports = true, nil
	default:
		return nil, fmt.Errorf("option transport=%q: want buffered, framed or http", set["transport"])
	}
	if s.zip, err = protocol.Compressed(set[protocol.KnobCompression]); err != nil {
		return nil, err
	}
	if s.zip && !s.http {
		// The library has a TZlibTransport, but it holds all that a connection has ever brought to the limit of one message.
		return nil, fmt.Errorf("option compression=gzip: thrift compresses over transport=http alone")
	}
	if o.Authority != "" && !s.http {
		return nil, fmt.Errorf("authority %q: thrift's requests name no server", o.Authority)
	}
	switch set["protocol"] {
	case "binary":
		s.protocols = thrift.NewTBinaryProtocolFactoryConf(s.conf)
	case "compact":
		s.protocols = thrift.NewTCompactProtocolFactoryConf(s.conf)
	default:
		return nil, fmt.Errorf("option protocol=%q: want binary or compact", set["protocol"])
	}
	return s, nil
}

// Path is where a server takes calls over HTTP.
const Path = "/thrift"

// HTTP says that calls go as requests of HTTP: then Protocols lie on the library's transports of that, and there are no
// Transports.
func (s *Stack) HTTP() bool { return s.http }

// Compressed says that requests are compressed, which only those over HTTP can be.
func (s *Stack) Compressed() bool { return s.zip }

// MaxMessage is the largest message in bytes.
func (s *Stack) MaxMessage() int { return s.maxMessage }

// Transports makes the layers above a socket.
func (s *Stack) Transports() thrift.TTransportFactory { return s.transports }

// Protocols makes the encoder and decoder above a transport.
func (s *Stack) Protocols() thrift.TProtocolFactory { return s.protocols }

// Protocol puts the whole stack on a socket.
func (s *Stack) Protocol(socket thrift.TTransport) (thrift.TProtocol, error) {
	t, err := s.transports.GetTransport(socket)
	if err != nil {
		return nil, err
	}
	return s.protocols.GetProtocol(t), nil
}

// MayExceed says whether a message of at most bound bytes must be counted by Check before it is sent; a bound
// is some additions, and nearly every message is done with that.
func (s *Stack) MayExceed(bound int) bool { return bound > s.maxMessage }

// Exceeds encodes a message into nothing and returns an error with both sizes when it is larger than the limit.
func (s *Stack) Exceeds(method string, body thrift.TStruct) error {
	n, err := s.Size(method, body)
	if err == nil && n > s.maxMessage {
		err = fmt.Errorf("%s: a message of %d bytes is over the limit of %d", method, n, s.maxMessage)
	}
	return err
}
