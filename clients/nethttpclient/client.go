// Package nethttpclient calls the API as JSON with net/http: over HTTP/1.1, where a connection carries one call at a time
// and a chat has a WebSocket, or over HTTP/2, where a connection carries any number and a chat is a stream of lines. The
// connections are those of protocol/nethttp: bounded and opened early, with no retries, no redirects and no proxies.
package nethttpclient

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"bakeoff/httpapi"
	"bakeoff/httpapi/calling"
	"bakeoff/protocol"
	"bakeoff/protocol/gzipped"
	"bakeoff/protocol/nethttp"
	"bakeoff/service"
)

type client struct {
	conns *nethttp.Client
	addr  string
	host  string // what requests call the server
	codec httpapi.Codec
	max   int
	zip   bool // requests are compressed, and answers if the server does that
	// The headers of requests, which nobody changes: those of streams without a body and with lines, and those of single calls without
	// one and with JSON.
	bare, lines, ask, json http.Header
}

// Dial1 opens o.Conns connections of HTTP/1.1 to addr before it returns, or fails with addr in the error. ctx bounds the
// dialling alone. It sends nothing: whether HTTP is spoken there, the first call finds out.
func Dial1(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	c, err := dial(ctx, addr, o, nethttp.HTTP1)
	if err != nil {
		return nil, err
	}
	return client1{c}, nil
}

// Dial2 is Dial1 for HTTP/2, whose preface it sends; without TLS with prior knowledge.
func Dial2(ctx context.Context, addr string, o protocol.Options) (protocol.Client, error) {
	c, err := dial(ctx, addr, o, nethttp.HTTP2)
	if err != nil {
		return nil, err
	}
	return client2{c}, nil
}

func dial(ctx context.Context, addr string, o protocol.Options, v nethttp.Version) (*client, error) {
	set, err := httpapi.Read(o)
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	o = o.Defaulted()
	c := &client{addr: addr, host: cmp.Or(o.Authority, addr), codec: set.Codec, max: o.MaxMessage, zip: set.Compression, bare: http.Header{}}
	if !set.Headers {
		c.bare["User-Agent"] = []string{""} // keeps net/http from sending its own
	}
	c.lines, c.ask = c.bare.Clone(), c.bare.Clone()
	if c.zip {
		c.ask["Accept-Encoding"] = []string{gzipped.Encoding}
	}
	c.json = c.ask.Clone()
	if c.zip {
		c.json["Content-Encoding"] = []string{gzipped.Encoding}
	}
	if set.Headers {
		c.json["Content-Type"] = []string{httpapi.TypeJSON}
		c.lines["Content-Type"] = []string{httpapi.TypeNDJSON}
	}
	if c.conns, err = nethttp.Dial(ctx, addr, v, o); err != nil {
		return nil, fmt.Errorf("http: dial %s: %w", addr, err)
	}
	return c, nil
}

// Close ends the calls in flight and those that wait.
func (c *client) Close() error { return c.conns.Close() }

// request is one of that call. A nil body is none.
func (c *client) request(k *nethttp.Call, method, path, query string, header http.Header, body io.ReadCloser, length int64) *http.Request {
	r := &http.Request{
		Method: method, URL: &url.URL{Scheme: c.conns.Scheme, Host: c.addr, Path: path, RawQuery: query}, Host: c.host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: length,
	}
	return r.WithContext(k.Context())
}

// call makes one call: encode writes the body, decode reads the answer's and keeps nothing of it.
func call[T any](ctx context.Context, c *client, method, path string,
	encode func(dst []byte) ([]byte, error), decode func(b []byte) (T, error)) (answer T, err error) {
	k, err := c.conns.Begin(ctx)
	if err != nil {
		return answer, err
	}
	defer k.Drop()
	r := c.request(k, method, path, "", c.ask, nil, 0)
	if encode != nil {
		body, err := encode(make([]byte, 0, 256)) // not kept: net/http may still read it when the call has ended
		if err == nil && len(body) > c.max {
			err = service.AsError(httpapi.TooLarge("request", c.max))
		}
		if err != nil {
			k.End(true) // nothing was sent
			return answer, err
		}
		if c.zip {
			body = gzipped.Append(body[len(body):], body)
		}
		r.Header, r.ContentLength, r.Body = c.json, int64(len(body)), io.NopCloser(bytes.NewReader(body))
	}
	resp, err := k.RoundTrip(r)
	if err != nil {
		return answer, k.Fail(err)
	}
	defer resp.Body.Close()
	s := httpapi.GetScratch()
	defer s.Release()
	if s.B, err = c.read(resp, s.B); err != nil {
		return answer, k.Fail(err)
	}
	good := !resp.Close
	if resp.StatusCode != http.StatusOK {
		err = httpapi.ErrorOf(resp.StatusCode, s.B)
	} else if answer, err = decode(s.B); err != nil {
		err, good = calling.Malformed(err), false
	}
	k.End(good)
	return answer, err
}

// read appends the whole body of an answer to dst.
func (c *client) read(resp *http.Response, dst []byte) ([]byte, error) {
	if resp.ContentLength > int64(c.max) {
		return dst, calling.LargeAnswer()
	}
	if first := resp.Header["Content-Encoding"]; len(first) > 0 && first[0] == gzipped.Encoding {
		return calling.Expand(dst, resp.Body, c.max)
	}
	dst, err := httpapi.ReadMessage(resp.Body, dst, c.max)
	if err == httpapi.ErrLineTooLong {
		err = calling.LargeAnswer()
	}
	return dst, err
}

func (c *client) Login(ctx context.Context, r service.LoginRequest) (service.Session, error) {
	return call(ctx, c, http.MethodPost, httpapi.PathLogin,
		func(dst []byte) ([]byte, error) { return c.codec.AppendLogin(dst, r) }, c.codec.DecodeSession)
}

func (c *client) DataType(ctx context.Context, r service.DataTypeRequest) (service.DataType, error) {
	return call(ctx, c, http.MethodPost, httpapi.PathDataType,
		func(dst []byte) ([]byte, error) { return c.codec.AppendDataTypeRequest(dst, r) }, c.codec.DecodeDataType)
}

func (c *client) Echo(ctx context.Context, p service.Payload) (service.Payload, error) {
	return call(ctx, c, http.MethodPost, httpapi.PathEcho,
		func(dst []byte) ([]byte, error) { return c.codec.AppendPayload(dst, p) }, c.codec.DecodePayload)
}

func (c *client) GetFeature(ctx context.Context, p service.Point) (service.Feature, error) {
	var room [48]byte
	path := string(httpapi.AppendPoint(append(room[:0], httpapi.PathFeatures+"/"...), p))
	return call(ctx, c, http.MethodGet, path, nil, func(b []byte) (service.Feature, error) {
		f, failed, err := c.codec.DecodeFeature(b)
		if failed != nil {
			err = failed
		}
		return f, err
	})
}
