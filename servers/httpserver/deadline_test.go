package httpserver_test

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"testing"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// TestDeadlines: a request that says how long its client will wait has a context that ends then, and others have none.
func TestDeadlines(t *testing.T) {
	s := serve(t, servicetest.API{
		OnDataType: func(ctx context.Context, _ service.DataTypeRequest) (service.DataType, error) {
			if _, ok := ctx.Deadline(); !ok {
				return service.DataType{CnName: "no deadline"}, nil
			}
			<-ctx.Done()
			return service.DataType{}, ctx.Err()
		},
		OnListFeatures: func(ctx context.Context, _ service.Rectangle) iter.Seq2[service.Feature, error] {
			return func(yield func(service.Feature, error) bool) {
				for range 3 { // while the answer is on its way the context lives
					if err := ctx.Err(); err != nil || !yield(service.Feature{Name: "alive"}, nil) {
						return
					}
				}
				<-ctx.Done()
				yield(service.Feature{}, ctx.Err())
			}
		},
	}, protocol.Options{})
	const body = `{"groupName":"g","enName":"n"}`
	if a := do(t, "POST", s.addr+"/v1/datatype", body); a.status != http.StatusOK || !strings.Contains(a.body, "no deadline") {
		t.Errorf("without the header: got %d %s", a.status, a.body)
	}
	a := do(t, "POST", s.addr+"/v1/datatype", body, "Grpc-Timeout", "20m")
	if a.status != http.StatusGatewayTimeout || a.problem(t).Code != "deadline_exceeded" {
		t.Errorf("with 20 ms: got %d %s, want deadline_exceeded", a.status, a.body)
	}
	a = do(t, "GET", s.addr+"/v1/features?lo=0,0&hi=0,0", "", "Grpc-Timeout", "50m")
	if lines := strings.Split(strings.TrimSpace(a.body), "\n"); len(lines) != 4 || !strings.Contains(lines[2], "alive") || !strings.Contains(lines[3], "deadline_exceeded") {
		t.Errorf("a list with 50 ms: got %s, want three features and deadline_exceeded", a.body)
	}
	for _, text := range []string{"soon", "20", "-5m", "123456789n"} {
		a := do(t, "POST", s.addr+"/v1/datatype", body, "Grpc-Timeout", text)
		if p := a.problem(t); a.status != http.StatusBadRequest || !strings.Contains(p.Detail, text[:2]) || !strings.Contains(p.Detail, "Grpc-Timeout") {
			t.Errorf("%s: got %d %s, want a refusal that names the header", text, a.status, p.Detail)
		}
	}
}
