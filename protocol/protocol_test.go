package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bakeoff/protocol"
	"bakeoff/service"
)

var noFuncs = cmpopts.IgnoreFields(protocol.Options{}, "DialContext")

func TestDefaulted(t *testing.T) {
	full := protocol.Options{Conns: 3, InFlight: 7, Timeout: time.Second, MaxMessage: 1, ServerIdle: time.Minute, GCPercent: 400,
		Knobs: map[string]string{"a": "b"}}
	for _, c := range []struct {
		what     string
		in, want protocol.Options
	}{
		{"zero", protocol.Options{}, protocol.Options{Conns: 1, InFlight: 1, MaxMessage: 4 << 20, ServerIdle: 5 * time.Minute}},
		{"connections alone", protocol.Options{Conns: 8}, protocol.Options{Conns: 8, InFlight: 8, MaxMessage: 4 << 20, ServerIdle: 5 * time.Minute}},
		{"calls alone", protocol.Options{InFlight: 50}, protocol.Options{Conns: 1, InFlight: 50, MaxMessage: 4 << 20, ServerIdle: 5 * time.Minute}},
		{"negative", protocol.Options{Conns: -1, InFlight: -1, MaxMessage: -1, ServerIdle: -1}, protocol.Options{Conns: 1, InFlight: 1, MaxMessage: 4 << 20, ServerIdle: 5 * time.Minute}},
		{"everything given", full, full},
	} {
		got := c.in.Defaulted()
		if d := cmp.Diff(c.want, got, noFuncs); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, d)
		}
		if got.DialContext == nil {
			t.Errorf("%s: no dialer", c.what)
		}
	}
	own := errors.New("the caller's own dialer")
	o := protocol.Options{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, own }}
	if _, err := o.Defaulted().DialContext(t.Context(), "tcp", "x"); err != own {
		t.Errorf("a dialer that was given was replaced: %v", err)
	}
}

func TestProtocolOptions(t *testing.T) {
	p := protocol.Protocol{
		Conns:  func(inFlight int) int { return inFlight / 2 },
		Tuning: protocol.Tuning{Knobs: map[string]string{"codec": "vt"}, GCPercent: 400},
	}
	for _, c := range []struct{ inFlight, conns, wantConns int }{
		{50, 0, 25}, // as the protocol's users do
		{50, 3, 3},
		{1, 0, 1}, // 1/2 = 0 is no number of connections
	} {
		got := p.Options(c.inFlight, c.conns)
		want := protocol.Options{Conns: c.wantConns, InFlight: c.inFlight, GCPercent: 400, Knobs: p.Tuning.Knobs}.Defaulted()
		if d := cmp.Diff(want, got, noFuncs); d != "" {
			t.Errorf("%d in flight over %d connections (-want +got):\n%s", c.inFlight, c.conns, d)
		}
	}
}

func TestSettings(t *testing.T) {
	known := []protocol.Knob{{Name: "reflection", Default: "off"}, {Name: "codec"}}
	for _, c := range []struct {
		given map[string]string
		known []protocol.Knob
		want  map[string]string
		err   string
	}{
		{nil, nil, map[string]string{}, ""},
		{nil, known, map[string]string{"reflection": "off", "codec": ""}, ""},
		{map[string]string{"codec": "vt"}, known, map[string]string{"reflection": "off", "codec": "vt"}, ""},
		{map[string]string{"reflection": ""}, known, map[string]string{"reflection": "", "codec": ""}, ""},
		{map[string]string{"codex": "vt", "zip": "1"}, known, nil, `option "codex": this protocol has reflection, codec`},
		{map[string]string{"codec": "vt"}, nil, nil, `option "codec": this protocol has no options of its own`},
	} {
		got, err := protocol.Options{Knobs: c.given}.Settings(c.known)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("given %v (-want +got):\n%s", c.given, d)
		}
		if text := fmt.Sprint(err); c.err != "" && text != c.err || c.err == "" && err != nil {
			t.Errorf("given %v: got error %v, want %q", c.given, err, c.err)
		}
	}
}

// TestOptionsAsJSON: the result file keeps what was in force, under names that stay.
func TestOptionsAsJSON(t *testing.T) {
	o := protocol.Options{Conns: 2, InFlight: 50, Timeout: 10 * time.Second, Knobs: map[string]string{"codec": "vt"}}.Defaulted()
	got, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"conns":2,"in_flight":50,"timeout_ns":10000000000,"max_message":4194304,"server_idle_ns":300000000000,"knobs":{"codec":"vt"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var back protocol.Options
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(o, back, noFuncs); d != "" {
		t.Errorf("read back (-want +got):\n%s", d)
	}
}

func TestFault(t *testing.T) {
	cause := errors.New("connection reset by peer")
	f := &protocol.Fault{Kind: protocol.Reset, Err: cause}
	wrapped := fmt.Errorf("call: %w", f)
	var got *protocol.Fault
	if !errors.As(wrapped, &got) || got.Class() != "reset" || !errors.Is(wrapped, cause) || f.Error() != "reset: connection reset by peer" {
		t.Errorf("got %v with class %s", f, got.Class())
	}
}

// TestClassesAreDistinct: an outcome's class says whether a service answered or the transport failed.
func TestClassesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range service.Codes() {
		seen[c.String()] = true
	}
	for _, kind := range []string{protocol.Timeout, protocol.Refused, protocol.Reset, protocol.StaleConn, protocol.Local, protocol.Malformed, protocol.BadTLS} {
		if seen[kind] || strings.ToLower(kind) != kind {
			t.Errorf("class %q is there twice, or not in small letters", kind)
		}
		seen[kind] = true
	}
}

func TestCallError(t *testing.T) {
	if err := protocol.CallError(t.Context()); err != nil {
		t.Errorf("a context that lives: got %v, want nil", err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	var se *service.Error
	if err := protocol.CallError(late); !errors.As(err, &se) || se.Code != service.DeadlineExceeded || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("past its deadline: got %T %v, want *service.Error deadline_exceeded", err, err)
	}
	gone, end := context.WithCancelCause(t.Context())
	end(errors.New("a cause of the caller's own"))
	if err := protocol.CallError(gone); err != context.Canceled {
		t.Errorf("cancelled: got %T %v, want context.Canceled", err, err)
	}
}
