package grpcgatewayclient

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"bakeoff/httpapi"
	"bakeoff/proto/routeguide"
	"bakeoff/protocol"
	"bakeoff/service"
)

func TestErrorOf(t *testing.T) {
	own := `{"code":5,"message":"m","details":[{"@type":"type.googleapis.com/inf.Error","code":3,"message":"沒有","cause":"store_full"}]}`
	for _, row := range []struct {
		what, body string
		want       *service.Error // nil: a fault of the kind malformed
	}{
		{"the service's own", own, &service.Error{Code: service.NotFound, Msg: "沒有", Cause: "store_full"}},
		{"in a chunk", `{"error":` + own + `}`, &service.Error{Code: service.NotFound, Msg: "沒有", Cause: "store_full"}},
		{"gRPC's", `{"code":8,"message":"too large","details":[]}`, &service.Error{Code: service.ResourceExhausted, Msg: "too large"}},
		{"with a detail of an unknown type", `{"code":14,"message":"m","details":[{"@type":"x.example/a.B"}]}`, &service.Error{Code: service.Unavailable, Msg: "m"}},
		{"a code that the service does not have", `{"code":12,"message":"m"}`, nil},
		{"no code", `{}`, nil},
		{"no JSON", `<html>`, nil},
		{"nothing", ``, nil},
	} {
		err := errorOf(500, []byte(row.body))
		var (
			e     *service.Error
			fault *protocol.Fault
		)
		if row.want == nil {
			if !errors.As(err, &fault) || fault.Kind != protocol.Malformed {
				t.Errorf("%s: got %v, want a fault of the kind %s", row.what, err, protocol.Malformed)
			}
		} else if !errors.As(err, &e) || *e != *row.want {
			t.Errorf("%s: got %#v, want %#v", row.what, err, row.want)
		}
	}
}

func TestTimeLeft(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "1n", 1: "1n", 50 * time.Millisecond: "50000000n", 99_999_999: "99999999n", 100_000_000: "100000u",
		100_000_001: "100001u", time.Hour: "3600000m", 1<<63 - 1: "99999999S",
	} {
		if got := timeLeft(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// FuzzStream has any bytes as the body of a stream: each message is one, and the end is an error of a kind that is known.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"", `{"result":{"name":"a","location":{"latitude":1}}}` + "\n", `{"error":{"code":13,"message":"m"}}`, `{"result":null}`, "{}\n", "\n\n[", "\xef\xbb\xbf{}",
		`{"result":{"location":{"latitude":2147483648}}}`,
	} {
		f.Add([]byte(s))
	}
	const max = 256
	f.Fuzz(func(t *testing.T, b []byte) {
		s := stream{httpapi.NewLines(bytes.NewReader(b), max+envelope)}
		for range len(b) + 2 {
			err := s.next(new(routeguide.Feature))
			if err == nil {
				continue
			}
			var (
				e     *service.Error
				fault *protocol.Fault
			)
			if err != io.EOF && !errors.As(err, &e) && !errors.As(err, &fault) {
				t.Errorf("%q: ends with %T %v", b, err, err)
			}
			return
		}
		t.Errorf("%q: more messages than bytes", b)
	})
}

// FuzzErrorOf has any bytes as the body of an error.
func FuzzErrorOf(f *testing.F) {
	for _, s := range []string{`{"code":5,"message":"m","details":[{"@type":"type.googleapis.com/inf.Error","code":3}]}`, `{"error":{"code":1}}`, "[]", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if errorOf(500, b) == nil {
			t.Errorf("%q: no error", b)
		}
	})
}
