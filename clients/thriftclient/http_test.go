package thriftclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/gzipped"
	"bakeoff/service"

	"github.com/apache/thrift/lib/go/thrift"
)

// over is an answer of HTTP with a body, and with more behind its status line if that is given.
func over(status, body string, headers ...string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/x-thrift\r\nContent-Length: %d\r\n%s\r\n%s",
		status, len(body), strings.Join(append(headers, ""), "\r\n"), body)
}

func TestAnswersOfOtherHTTPServers(t *testing.T) {
	unknown := reply(thrift.EXCEPTION, dataType, 1) + "\x0b\x00\x01" + str("unknown method") + "\x08\x00\x02" + i32(thrift.UNKNOWN_METHOD) + "\x00"
	for _, tc := range []struct {
		what, answer string
		kind         string       // of a fault
		code         service.Code // of an error
		says         string
	}{
		{"hangs up without a word", "", protocol.StaleConn, 0, ""},
		{"hangs up within the head", "HTTP/1.1 200", protocol.StaleConn, 0, ""}, // net/http tells it from none as little as we do
		{"hangs up within the body", over("200 OK", reply(thrift.REPLY, dataType, 1))[:90], protocol.Reset, 0, ""},
		{"speaks Thrift without HTTP", reply(thrift.REPLY, dataType, 1) + "\x00", protocol.Malformed, 0, ""},
		{"answers nothing", over("200 OK", ""), protocol.Malformed, 0, "the answer ends in the middle of its message"},
		{"answers half a message", over("200 OK", reply(thrift.REPLY, dataType, 1)+"\x0c\x00"), protocol.Malformed, 0, "ends in the middle"},
		{"answers another call", over("200 OK", reply(thrift.REPLY, dataType, 2)+"\x00"), protocol.Malformed, 0, ""},
		{"has no such method", over("200 OK", unknown), protocol.Malformed, 0, "unknown method"},
		{"has no such path", over("404 Not Found", "404 page not found"), protocol.Malformed, 0, "/thrift: status 404 Not Found"},
		{"has moved", over("307 Temporary Redirect", "", "Location: http://127.0.0.1:1/other"), protocol.Malformed, 0, "status 307 Temporary Redirect"},
		{"takes no such size", over("413 Request Entity Too Large", "large"), "", service.ResourceExhausted, ""},
		{"says that it is over the limit", fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 4<<20+1), "", service.ResourceExhausted, "the answer: "},
		{"goes on for ever", "HTTP/1.1 200 OK\r\n\r\n" + reply(thrift.REPLY, dataType, 1) + "\x0c\x00\x00" +
			strings.Repeat("\x0b\x00\x09"+str(strings.Repeat("x", 1<<20)), 6), "", service.ResourceExhausted, "the answer: "},
	} {
		dials := 0
		o := protocol.Options{Knobs: map[string]string{"transport": "http"}, Timeout: 10 * time.Second}
		o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		c, err := Dial(t.Context(), answerer(t, tc.answer), o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.DataType(t.Context(), service.DataTypeRequest{})
		var fault *protocol.Fault
		var failure *service.Error
		switch {
		case tc.kind != "" && (!errors.As(err, &fault) || fault.Kind != tc.kind),
			tc.code != 0 && (!errors.As(err, &failure) || failure.Code != tc.code),
			!strings.Contains(fmt.Sprint(err), tc.says):
			t.Errorf("a server that %s: %v, want %s%s, %q", tc.what, err, tc.kind, code(tc.code), tc.says)
		}
		if dials != 1 {
			t.Errorf("a server that %s: %d dials, want the one of Dial", tc.what, dials)
		}
		_, _ = c.DataType(t.Context(), service.DataTypeRequest{})
		if dials != 2 {
			t.Errorf("a server that %s: %d dials after the next call, want 2: a connection of doubt is given up", tc.what, dials)
		}
		c.Close()
	}
}

// TestCompressedAnswers: an answer is taken plain or compressed, whichever it is, and what is no gzip is told.
func TestCompressedAnswers(t *testing.T) {
	answer := reply(thrift.REPLY, "GetFeature", 1) + "\x0c\x00\x00\x00\x00"
	zipped := string(gzipped.Append(nil, []byte(answer)))
	for _, tc := range []struct {
		what, encoding, body string
		kind                 string
		code                 service.Code
	}{
		{"plain", "", answer, "", 0},
		{"compressed", "gzip", zipped, "", 0},
		{"half", "gzip", zipped[:len(zipped)-9], protocol.Malformed, 0},
		{"said to be compressed", "gzip", answer, protocol.Malformed, 0},
		{"larger than the limit", "gzip", string(gzipped.Append(nil, make([]byte, 4<<20+1))), "", service.ResourceExhausted},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" || r.Header.Get("Content-Encoding") != "gzip" {
				t.Errorf("headers %v", r.Header)
			}
			if body, err := gzipped.Expand(nil, r.Body, 1000); err != nil || !strings.Contains(string(body), "GetFeature") {
				t.Errorf("the request is %q, %v", body, err)
			}
			if tc.encoding != "" {
				w.Header().Set("Content-Encoding", tc.encoding)
			}
			io.WriteString(w, tc.body)
		}))
		c, err := Dial(t.Context(), server.Listener.Addr().String(), protocol.Options{
			Knobs: map[string]string{"transport": "http", "compression": "gzip"},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.GetFeature(t.Context(), service.Point{})
		var fault *protocol.Fault
		var failure *service.Error
		switch {
		case tc.kind == "" && tc.code == 0 && err != nil, tc.kind != "" && (!errors.As(err, &fault) || fault.Kind != tc.kind),
			tc.code != 0 && (!errors.As(err, &failure) || failure.Code != tc.code):
			t.Errorf("an answer that is %s: %v, want %s%s", tc.what, err, tc.kind, code(tc.code))
		}
		c.Close()
		server.Close()
	}
}

// An answer with more in its body than the message costs the connection, and not the call.
func TestMoreThanTheMessage(t *testing.T) {
	for more, want := range map[string]int{"": 1, "x": 3} {
		var calls uint32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			io.WriteString(w, reply(thrift.REPLY, "GetFeature", calls)+"\x0c\x00\x00\x00\x00"+more)
		}))
		dials := 0
		o := protocol.Options{Knobs: map[string]string{"transport": "http"}}
		o.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials++
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		c, err := Dial(t.Context(), server.Listener.Addr().String(), o)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := c.GetFeature(t.Context(), service.Point{}); err != nil {
				t.Errorf("with %q behind the answer: %v", more, err)
			}
		}
		if dials != want {
			t.Errorf("with %q behind the answer: %d dials, want %d", more, dials, want)
		}
		c.Close()
		server.Close()
	}
}

// TestRequests: what is sent names the server by its authority, goes to no proxy, and asks for no compression.
func TestRequests(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	seen := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r }))
	defer server.Close()
	c, err := Dial(t.Context(), server.Listener.Addr().String(), protocol.Options{
		Knobs: map[string]string{"transport": "http"}, Authority: "bench.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.GetFeature(t.Context(), service.Point{}); err == nil {
		t.Error("a server that says nothing was understood")
	}
	r := <-seen
	if r.Method != "POST" || r.URL.Path != "/thrift" || r.Host != "bench.example" || r.ContentLength <= 0 ||
		r.Header.Get("Content-Type") != "application/x-thrift" || r.Header.Get("Accept-Encoding") != "" {
		t.Errorf("%s %s, Host %s, length %d, %v", r.Method, r.URL, r.Host, r.ContentLength, r.Header)
	}
}
