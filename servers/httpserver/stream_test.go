package httpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// get opens a streamed answer.
func get(t *testing.T, url string) *http.Response {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	rq, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+url, nil)
	if err != nil {
		t.Fatal(err)
	}
	rp, err := tr.RoundTrip(rq)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rp.Body.Close() })
	return rp
}

// TestListArrivesAsItIsFound: a feature is at the client before the next one is looked for.
func TestListArrivesAsItIsFound(t *testing.T) {
	more := make(chan struct{})
	s := serve(t, servicetest.API{OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
		return func(yield func(service.Feature, error) bool) {
			for i := range 3 {
				if !yield(service.Feature{Name: fmt.Sprint(i)}, nil) {
					return
				}
				select {
				case <-more:
				case <-ctx.Done():
					yield(service.Feature{}, ctx.Err())
					return
				}
			}
		}
	}}, protocol.Options{})
	rp := get(t, s.addr+"/v1/features?lo=1,2&hi=3,4")
	if got := rp.Header.Get("Content-Type"); got != "application/x-ndjson" || rp.ContentLength != -1 {
		t.Errorf("got content type %q, length %d", got, rp.ContentLength)
	}
	lines := bufio.NewScanner(rp.Body)
	for i := range 3 {
		if !lines.Scan() || !strings.Contains(lines.Text(), fmt.Sprintf(`"name":"%d"`, i)) {
			t.Fatalf("line %d: got %q, %v", i, lines.Text(), lines.Err())
		}
		more <- struct{}{}
	}
	if lines.Scan() || lines.Err() != nil {
		t.Errorf("after the list: got %q, %v", lines.Text(), lines.Err())
	}
}

// TestListFails: before the first feature it is an answer of its own; later it is the last line.
func TestListFails(t *testing.T) {
	for n, want := range map[int]string{
		0: "",
		2: `{"name":"","location":{"latitude":0,"longitude":0}}` + "\n" + `{"name":"","location":{"latitude":0,"longitude":0}}` + "\n" +
			`{"error":{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"gone","code":"unavailable"}}` + "\n",
	} {
		s := serve(t, servicetest.API{OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				for range n {
					if !yield(service.Feature{}, nil) {
						return
					}
				}
				yield(service.Feature{}, service.Errorf(service.Unavailable, "gone"))
			}
		}}, protocol.Options{})
		a := do(t, "GET", s.addr+"/v1/features?lo=1,2&hi=3,4", "")
		if n == 0 {
			if p := a.problem(t); a.status != 503 || p.Code != "unavailable" || p.Detail != "gone" {
				t.Errorf("got status %d, %+v, want 503", a.status, p)
			}
		} else if a.status != 200 || a.body != want {
			t.Errorf("got status %d, %s", a.status, a.body)
		}
	}
}

// TestListStops: a list without end ends with its client.
func TestListStops(t *testing.T) {
	stopped := make(chan struct{})
	s := serve(t, servicetest.API{OnListFeatures: func(context.Context, service.Rectangle) iter.Seq2[service.Feature, error] {
		return func(yield func(service.Feature, error) bool) {
			defer close(stopped)
			for yield(service.Feature{Name: strings.Repeat("x", 100)}, nil) {
			}
		}
	}}, protocol.Options{})
	rp := get(t, s.addr+"/v1/features?lo=1,2&hi=3,4")
	if _, err := io.ReadFull(rp.Body, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	rp.Body.Close()
	<-stopped
}

// TestUploadIsReadAsItArrives: a point is with the rules before the next one is sent.
func TestUploadIsReadAsItArrives(t *testing.T) {
	seen := make(chan service.Point)
	s := serve(t, servicetest.API{OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (sum service.RouteSummary, err error) {
		for p, err := range points {
			if err != nil {
				return sum, err
			}
			sum.PointCount++
			seen <- p
		}
		return sum, nil
	}}, protocol.Options{})
	r, w := io.Pipe()
	go func() {
		for i := range 3 {
			fmt.Fprintf(w, `{"latitude":%d,"longitude":"7"}`+"\r\n\n", i)
			if p := <-seen; p != (service.Point{Latitude: int32(i), Longitude: 7}) {
				t.Errorf("point %d: got %v", i, p)
			}
		}
		w.Close()
	}()
	a := doReader(t, "POST", s.addr+httpapi.PathRoutes, r, "Content-Type", "application/x-ndjson")
	if want := `{"pointCount":3,"featureCount":0,"distance":0,"elapsedTime":0}`; a.status != 200 || a.body != want {
		t.Errorf("got %d %s, want %s", a.status, a.body, want)
	}
}

// TestUploads: only a line is held to the limit, and a fault in one names its line.
func TestUploads(t *testing.T) {
	const limit = 10_000
	const point = `{"latitude":1,"longitude":2}`
	padded := func(n int) string { return strings.Repeat(" ", n-len(point)) + point }
	s := serve(t, echo, protocol.Options{MaxMessage: limit})
	for _, row := range []post{
		{name: "none", status: 200, want: `"pointCount":0`},
		{name: "one without an end", body: point, status: 200, want: `"pointCount":1`},
		{name: "byte-order mark", body: "\xef\xbb\xbf" + point, status: 200, want: `"pointCount":1`},
		{name: "as a whole over the limit", body: strings.Repeat(point+"\n", 1000), status: 200, want: `"pointCount":1000`}, // 29 kB
		{name: "lines at the limit", body: strings.Repeat(padded(limit)+"\n", 3), status: 200, want: `"pointCount":3`},
		{name: "a line over the limit", body: point + "\n" + padded(limit+1) + "\n", status: 413, want: "point in line 2 is larger than the limit of 10000"},
		{name: "bad line", body: point + "\n" + point + "\n{]\n", status: 400, want: "message 3: the JSON is not as expected: line 1, byte 2"},
		{name: "a line of zeros", body: "{}\n{}\n", status: 200, want: `"pointCount":2`},
		{name: "a line of null", body: point + "\nnull\n", status: 400, want: "message 2: the JSON is not as expected: line 1, byte 1: the message cannot be null"},
		{name: "a number of null", body: `{"latitude":null}`, status: 400, want: "line 1, byte 13: latitude cannot be null"},
		{name: "two on a line", body: point + point, status: 400, want: "message 1: "},
		{name: "over 32 bits", body: `{"latitude":2147483648}`, status: 400, want: "message 1: the JSON is not as expected: latitude cannot be 2147483648"},
		{name: "wrong type", body: point, contentType: "application/json", status: 415, want: "send application/x-ndjson"},
	} {
		row.check(t, s.addr+httpapi.PathRoutes)
	}
}

// TestUploadPauses: an upload may pause as long as the server keeps idle connections, and take longer as a whole.
func TestUploadPauses(t *testing.T) {
	const idle = 600 * time.Millisecond
	s := serve(t, servicetest.API{OnRecordRoute: func(_ context.Context, points iter.Seq2[service.Point, error]) (sum service.RouteSummary, err error) {
		for _, err := range points {
			if err != nil {
				return sum, err
			}
			sum.PointCount++
		}
		return sum, nil
	}}, protocol.Options{ServerIdle: idle})
	r, w := io.Pipe()
	go func() {
		tick := time.NewTicker(idle / 4)
		defer tick.Stop()
		for range 8 { // twice the idle time
			<-tick.C
			_, _ = io.WriteString(w, "{}\n")
		}
		w.Close()
	}()
	if a := doReader(t, "POST", s.addr+httpapi.PathRoutes, r); a.status != 200 || !strings.Contains(a.body, `"pointCount":8`) {
		t.Errorf("got %d %s, want 8 points", a.status, a.body)
	}
	stops, last := io.Pipe()
	defer last.Close()
	go func() { _, _ = io.WriteString(last, "{}\n") }()
	if a := doReader(t, "POST", s.addr+httpapi.PathRoutes, stops); a.status != 408 || a.problem(t).Code != "deadline_exceeded" {
		t.Errorf("an upload that stops: got %d %s, want 408", a.status, a.body)
	}
}
