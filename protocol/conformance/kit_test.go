package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
	"bakeoff/store/memory"
)

// TestVectorsAreComplete: each has what a reader of a failure needs, and a name of its own.
func TestVectorsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for i, v := range Vectors {
		if v.Name == "" || v.Doc == "" || v.Look == "" || v.Check == nil {
			t.Errorf("vector %d, %q, lacks a name, doc, place to look or check", i, v.Name)
		}
		if seen[v.Name] {
			t.Errorf("two vectors are called %q", v.Name)
		}
		seen[v.Name] = true
	}
	if Vectors[0].Name != probeVector {
		t.Errorf("the first vector is %q, want %q", Vectors[0].Name, probeVector)
	}
}

// serveLocal starts a server of the local protocol and returns it with its address.
func serveLocal(t *testing.T, api service.API) (protocol.Protocol, string) {
	t.Helper()
	p := local()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, l, api, p.Options(64, 0)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return p, l.Addr().String()
}

func rules(t *testing.T) *service.Service {
	t.Helper()
	s, err := service.New(t.Context(), memory.New(nil), service.Config{Auth: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestServerWithoutProbe: one difference that says what is missing, not forty.
func TestServerWithoutProbe(t *testing.T) {
	p, addr := serveLocal(t, rules(t))
	got, err := Run(t.Context(), p, addr)
	if err != nil || len(got) != 1 || got[0].Vector.Name != probeVector || !strings.Contains(got[0].String(), "conformance.Probe") {
		t.Errorf("got %v, %v, want one difference that names conformance.Probe", got, err)
	}
}

// TestRunStopsWithItsContext: what ended the run is told once, whether before the first call or in the middle of a vector, and none
// of the calls that failed for it is a difference.
func TestRunStopsWithItsContext(t *testing.T) {
	for _, before := range []bool{true, false} {
		p, addr := serveLocal(t, Probe(rules(t)))
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the server died")
		if before {
			cancel(gone)
		}
		dials := 0
		p.Dial = func(good dial) dial {
			return func(c context.Context, addr string, o protocol.Options) (protocol.Client, error) {
				if dials++; dials == 3 {
					cancel(gone)
				}
				if dials > 1 {
					return nil, errors.New("connection refused")
				}
				return good(c, addr, o)
			}
		}(p.Dial)
		got, err := Run(ctx, p, addr)
		if len(got) != 0 || !errors.Is(err, gone) || dials > 3 {
			t.Errorf("before %t: got %v, %v after %d dials, want the cause alone, after 3", before, got, err, dials)
		}
	}
}

// TestRunGivesUpADeafServer: after the first vector whose time is over, and with no verdict. A subject that answers anything is held to the others.
func TestRunGivesUpADeafServer(t *testing.T) {
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // the kernel lets clients connect, and nobody reads
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	const limit = 100 * time.Millisecond
	p := local()
	got, err := runWithin(t.Context(), limit, limit/2, p, deaf.Addr().String(), Vectors)
	if want := fmt.Sprintf("stopped in vector 1 of %d, %q: ", len(Vectors), Vectors[0].Name); err == nil || len(got) > 0 ||
		!strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "a single call was not answered within 50ms either: the server is stopped, or hangs") {
		t.Errorf("got %v, %v, want an error that begins with %q", got, err, want)
	}

	p, addr := serveLocal(t, Probe(rules(t)))
	p.Dial = client(func(c protocol.Client) servicetest.API {
		return servicetest.API{OnEcho: func(ctx context.Context, _ service.Payload) (service.Payload, error) {
			<-ctx.Done()
			return service.Payload{}, ctx.Err()
		}}
	})(p.Dial)
	var some []Vector
	for _, name := range []string{"bytes", "hit"} {
		some = append(some, Vectors[slices.IndexFunc(Vectors, func(v Vector) bool { return v.Name == name })])
	}
	got, err = runWithin(t.Context(), 2*time.Second, 20*time.Second, p, addr, some)
	if err != nil || len(got) != 1 || got[0].Vector.Name != "bytes" {
		t.Errorf("got %v, %v, want a difference in bytes alone", got, err)
	}
}

// TestFaultsAreCaught plants faults that real protocols have had, and wants each named by its vectors: a kit that
// can't fail proves nothing.
func TestFaultsAreCaught(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			p, addr := serveLocal(t, Probe(rules(t)))
			p.Name, p.Dial = f.name, f.plant(p.Dial)
			for _, name := range f.caughtBy {
				i := slices.IndexFunc(Vectors, func(v Vector) bool { return v.Name == name })
				if i < 0 {
					t.Fatalf("no vector %q", name)
				}
				err := checkWithin(t.Context(), 2*time.Second, p, addr, Vectors[i])
				if err == nil {
					t.Errorf("vector %q does not catch it", name)
					continue
				}
				t.Log(Difference{p.Name, Vectors[i], err})
				if !strings.Contains(err.Error(), f.says) {
					t.Errorf("vector %q says %q, which does not contain %q", name, err, f.says)
				}
			}
		})
	}
}

// TestEveryVectorCanFail: a vector that no planted fault fails would not be missed.
func TestEveryVectorCanFail(t *testing.T) {
	for _, v := range Vectors {
		if !slices.ContainsFunc(faults, func(f fault) bool { return slices.Contains(f.caughtBy, v.Name) }) {
			t.Errorf("no planted fault is caught by vector %q", v.Name)
		}
	}
}

// Of two ends that don't agree on TLS no call tells anything of the subject.
func TestDifferenceOverTLS(t *testing.T) {
	fault := &protocol.Fault{Kind: protocol.BadTLS, Err: errors.New("signed by no CA")}
	for err, want := range map[error]string{
		fmt.Errorf("dial: %w", fault): "look at: the TLS options of both ends, before the subject",
		errors.New("dial: refused"):   "look at: " + Vectors[0].Look,
	} {
		if got := (Difference{"http", Vectors[0], err}).String(); !strings.Contains(got, want) {
			t.Errorf("%v: %q is not in %q", err, want, got)
		}
	}
}

func ExampleDifference() {
	fmt.Println(Difference{"thrift", Vectors[5], errors.New("code: got 9007199254740992, want 9007199254740993")})
	// Output:
	// thrift differs in vector "int64": code: got 9007199254740992, want 9007199254740993
	// 	wanted of all: an int64 keeps every digit, from the least to the greatest
	// 	look at: numbers that pass through a float64, or lose their sign
}
