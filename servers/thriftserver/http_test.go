package thriftserver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/protocol/gzipped"
	"bakeoff/thrift/gen/inf"
	"bakeoff/thrift/stack"

	"github.com/apache/thrift/lib/go/thrift"
)

var overHTTP = protocol.Options{MaxMessage: 4096, Knobs: map[string]string{"transport": "http"}}

// TestPublishedClientsOverHTTP has the library's own client and default http.Client.
func TestPublishedClientsOverHTTP(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	addr, stop := start(t, echo, overHTTP, time.Second, time.Second)
	transport, err := thrift.NewTHttpClient("http://" + addr + stack.Path)
	if err != nil {
		t.Fatal(err)
	}
	c := inf.NewDataClientFactory(transport, thrift.NewTBinaryProtocolFactoryConf(nil))
	for _, name := range []string{"a", strings.Repeat("x", 3000)} { // the answer in one piece, and in chunks; the library asks for gzip
		d, err := c.DataType(t.Context(), &inf.DataTypeRq{Authrq: &inf.AuthRq{Token: "t"}, GroupName: "g", EnName: name})
		if err != nil || d.CnName != name || d.Authrp.Token != "t" {
			t.Errorf("%.10s: %v, %v", name, d, err)
		}
	}
	if _, err := c.DataType(t.Context(), &inf.DataTypeRq{Authrq: &inf.AuthRq{}, GroupName: "g"}); fmt.Sprint(err) == "<nil>" ||
		!strings.Contains(err.Error(), "no name") {
		t.Errorf("a declared exception came as %v", err)
	}
	transport.Close()
	http.DefaultClient.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestHostileHTTP sends what is no call: each is answered, with little memory, and the server works on.
func TestHostileHTTP(t *testing.T) {
	o := overHTTP
	o.MaxMessage = 4 << 20
	addr, stop := start(t, echo, o, time.Second, time.Second)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	good := message(thrift.CALL, "DataType", 1, field(thrift.STRUCT, 1, dataTypeRq(authRq("c", "t"), "g", "n")))
	post := func(body io.Reader) (int, string) {
		resp, err := client.Post("http://"+addr+stack.Path, "application/x-thrift", body)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer)
	}
	_, want := post(strings.NewReader(good))
	if !strings.HasPrefix(want, "\x80\x01\x00\x02"+str("DataType")) {
		t.Fatalf("a good call is answered %q", want)
	}
	for _, h := range hostile {
		before := allocatedBytes()
		status, answer := post(strings.NewReader(h.bytes))
		if got := allocatedBytes() - before; got > allowed(len(h.bytes)) {
			t.Errorf("%s: %d bytes were allocated for %d", h.what, got, len(h.bytes))
		}
		if status != 200 || h.bytes != good && answer != "" && !strings.HasPrefix(answer, "\x80\x01\x00\x03") {
			t.Errorf("%s: status %d, answer %q", h.what, status, answer)
		}
		if _, got := post(strings.NewReader(good)); got != want {
			t.Fatalf("after %s a good call is answered %q", h.what, got)
		}
	}
	large := make([]byte, 4<<20+1)
	if status, _ := post(bytes.NewReader(large)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a request over the limit: status %d", status)
	}
	long := message(thrift.CALL, "Login", 1, field(thrift.STRUCT, 1, field(thrift.STRING, 1, i32(4<<20)+string(large))))
	if _, answer := post(struct{ io.Reader }{strings.NewReader(long)}); !strings.HasPrefix(answer, "\x80\x01\x00\x03") { // in chunks
		t.Errorf("a request over the limit, in chunks: answer %.40q", answer)
	}
	for what, c := range map[string]struct {
		encoding string
		body     []byte
		status   int
	}{
		"compressed":                           {"gzip", gzipped.Append(nil, []byte(good)), http.StatusOK},
		"said to be compressed":                {"gzip", []byte(good), http.StatusBadRequest},
		"compressed in a way that we know not": {"br", []byte(good), http.StatusUnsupportedMediaType},
		"compressed, and large":                {"gzip", gzipped.Append(nil, large), http.StatusRequestEntityTooLarge},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+addr+stack.Path, bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Encoding", c.encoding)
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || c.status == http.StatusOK && string(answer) != want {
			t.Errorf("a request %s: status %d, %.60q, %v", what, resp.StatusCode, answer, err)
		}
	}
	for path, want := range map[string]int{stack.Path: http.StatusMethodNotAllowed, "/": http.StatusNotFound, "/thrift/x": http.StatusNotFound} {
		resp, err := client.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s: status %d, want %d", path, resp.StatusCode, want)
		}
	}
	client.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Error(err)
	}
}
