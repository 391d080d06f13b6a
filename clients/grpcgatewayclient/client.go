// Package grpcgatewayclient is the API's client of a grpc-gateway: JSON as protobuf maps it, over net/http's HTTP/2. It knows
// the wire and what a protocol is, not the server and not who calls.
package grpcgatewayclient

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"bakeoff/httpapi"
	"bakeoff/proto/convert"
	"bakeoff/proto/inf"
	"bakeoff/proto/routeguide"
	"bakeoff/protocol"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
)

// The paths of proto/grpcgateway/rules.yaml.
const (
	pathLogin    = "/v1/login"
	pathDataType = "/v1/datatype"
	pathEcho     = "/v1/echo"
	pathFeatures = "/v1/features"
	pathRoutes   = "/v1/routes"
	pathChat     = "/v1/chat"
)

type client struct {
	http *nethttp.Client
	url  string // scheme and address
	host string // what requests call the server
	max  int
}

// Dial opens o.Conns connections to addr ("host:port") before it returns, or fails with the address in the error. ctx
// bounds the dialling alone. Whether HTTP/2 is spoken there, the first call finds out.
//
// A call whose context has a deadline is ended by that. Any other is ended by o.Timeout; see pool.Patience.
func Dial(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	if _, err := o.Settings(nil); err != nil {
		return nil, fmt.Errorf("grpc-gateway: %w", err)
	}
	o = o.Defaulted()
	h, err := nethttp.Dial(ctx, addr, nethttp.HTTP2, o)
	if err != nil {
		return nil, fmt.Errorf("grpc-gateway: dial %s: %w", addr, err)
	}
	return &client{http: h, url: h.Scheme + "://" + addr, host: cmp.Or(o.Authority, addr), max: o.MaxMessage}, nil
}

// Close ends the calls in flight; they and later calls fail with protocol.ErrClosed in a protocol.Fault.
func (c *client) Close() error { return c.http.Close() }

// encode writes a message as JSON on one line, and refuses one that is over the limit.
func (c *client) encode(m proto.Message) ([]byte, error) {
	b, err := protojson.Marshal(m)
	if err != nil {
		return nil, service.Errorf(service.InvalidArgument, "%v", err)
	}
	if len(b) > c.max {
		return nil, service.AsError(httpapi.TooLarge("request", c.max))
	}
	return b, nil
}

// timeoutHeader is where gRPC, and so the gateway, is told what time is left.
const timeoutHeader = "Grpc-Timeout"

// request is one of ctx, which belongs to a call. length is that of the body; -1: it is streamed.
func (c *client) request(ctx context.Context, method, path string, body io.Reader, length int64) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return nil, err
	}
	r.ContentLength, r.GetBody = length, nil
	r.Host = c.host
	if body != nil {
		r.Header["Content-Type"] = []string{"application/json"}
	}
	if until, ok := ctx.Deadline(); ok {
		r.Header[timeoutHeader] = []string{timeLeft(time.Until(until))}
	}
	return r, nil
}

// timeLeft writes a time in at most eight digits and a unit, rounded up.
func timeLeft(d time.Duration) string {
	d = max(d, 1)
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{time.Nanosecond, "n"}, {time.Microsecond, "u"}, {time.Millisecond, "m"}, {time.Second, "S"}} {
		n := d / u.of
		if d%u.of != 0 {
			n++
		}
		if n < 1e8 {
			return strconv.FormatInt(int64(n), 10) + u.name
		}
	}
	return "99999999S"
}

// unary makes one call: rq is its body (nil: it has none), and the answer goes into rp.
func (c *client) unary(ctx context.Context, method, path string, rq, rp proto.Message) error {
	var body io.Reader
	var length int64
	if rq != nil {
		b, err := c.encode(rq)
		if err != nil {
			return err
		}
		body, length = bytes.NewReader(b), int64(len(b))
	}
	k, err := c.http.Begin(ctx)
	if err != nil {
		return err
	}
	defer k.Drop()
	r, err := c.request(k.Context(), method, path, body, length)
	if err != nil {
		return k.Fail(err)
	}
	resp, err := k.RoundTrip(r)
	if err != nil {
		return k.Fail(err)
	}
	return c.answer(k, resp, rp)
}

// answer reads an answer of one message, and ends the call.
func (c *client) answer(k *nethttp.Call, resp *http.Response, rp proto.Message) error {
	defer resp.Body.Close()
	b, err := c.read(resp)
	if err == nil && resp.StatusCode == http.StatusOK {
		err = decode(b, rp)
	} else if err == nil {
		err = errorOf(resp.StatusCode, b)
	}
	if err != nil {
		return k.Fail(err)
	}
	k.End(true)
	return nil
}

// read reads a whole body.
func (c *client) read(resp *http.Response) ([]byte, error) {
	if resp.ContentLength > int64(c.max) {
		return nil, largeAnswer()
	}
	b, err := httpapi.ReadMessage(resp.Body, make([]byte, 0, max(resp.ContentLength+1, 512)), c.max)
	if err == httpapi.ErrLineTooLong {
		err = largeAnswer()
	}
	return b, err
}

func (c *client) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	rp := new(inf.LoginRp)
	if err := c.unary(ctx, http.MethodPost, pathLogin, convert.WireLogin(r), rp); err != nil {
		return service.Session{}, err
	}
	return convert.Session(rp), nil
}

func (c *client) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	rp := new(inf.DataTypeRp)
	if err := c.unary(ctx, http.MethodPost, pathDataType, convert.WireDataTypeRequest(r), rp); err != nil {
		return service.DataType{}, err
	}
	return convert.DataType(rp), nil
}

func (c *client) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	rp := new(inf.Payload)
	if err := c.unary(ctx, http.MethodPost, pathEcho, convert.WirePayload(p), rp); err != nil {
		return service.Payload{}, err
	}
	return convert.Payload(rp)
}

func (c *client) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	path := append(make([]byte, 0, 48), pathFeatures+"/"...)
	path = append(strconv.AppendInt(path, int64(p.Latitude), 10), '/')
	path = strconv.AppendInt(path, int64(p.Longitude), 10)
	rp := new(routeguide.Feature)
	if err := c.unary(ctx, http.MethodGet, string(path), nil, rp); err != nil {
		return service.Feature{}, err
	}
	return convert.Feature(rp), nil
}
