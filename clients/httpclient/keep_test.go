package httpclient_test

import (
	"context"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// TestKeepAlive counts the dials of eight calls, one after another, of every shape.
func TestKeepAlive(t *testing.T) {
	for _, row := range []struct {
		keep  string
		dials int64 // the first call has the connection that was dialled in advance
	}{{"on", 1}, {"off", 8}, {"2", 1}} { // it becomes the chats' WebSocket by itself
		o := protocol.Options{Conns: 1, InFlight: 1, Knobs: map[string]string{"keep-alive": row.keep}}
		c := dial(t, serve(t, servicetest.API{}, o), o)
		for range 2 {
			if _, err := c.DataType(t.Context(), service.DataTypeRequest{Group: "g", Name: "n"}); err != nil {
				t.Errorf("keep-alive=%s: DataType: %v", row.keep, err)
			}
			if _, err := service.Collect(c.ListFeatures(t.Context(), service.Rectangle{})); err != nil {
				t.Errorf("keep-alive=%s: ListFeatures: %v", row.keep, err)
			}
			if _, err := c.RecordRoute(t.Context(), service.All([]service.Point{{}, {}})); err != nil {
				t.Errorf("keep-alive=%s: RecordRoute: %v", row.keep, err)
			}
		}
		for range 2 {
			if _, err := service.Collect(c.RouteChat(t.Context(), service.All([]service.RouteNote{{Message: "m"}}))); err != nil {
				t.Errorf("keep-alive=%s: RouteChat: %v", row.keep, err)
			}
		}
		if n := c.dials.Load(); n != row.dials {
			t.Errorf("keep-alive=%s: %d connections were dialled, want %d", row.keep, n, row.dials)
		}
	}
}

// TestDeadlineIsTold: the server learns of the caller's own deadline, and of no other.
func TestDeadlineIsTold(t *testing.T) {
	left := make(chan time.Duration, 1)
	addr := serve(t, servicetest.API{OnDataType: func(ctx context.Context, _ service.DataTypeRequest) (service.DataType, error) {
		until, ok := ctx.Deadline()
		if !ok {
			left <- 0
		} else {
			left <- time.Until(until)
		}
		return service.DataType{}, nil
	}}, protocol.Options{})
	c := dial(t, addr, protocol.Options{Conns: 1, Timeout: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, row := range []struct {
		ctx         context.Context
		least, most time.Duration
	}{{t.Context(), 0, 0}, {ctx, 55 * time.Minute, time.Hour}, {t.Context(), 0, 0}} {
		if _, err := c.DataType(row.ctx, service.DataTypeRequest{Group: "g", Name: "n"}); err != nil {
			t.Fatal(err)
		}
		if got := <-left; got < row.least || got > row.most {
			t.Errorf("the server has %v left for the call, want %v to %v", got, row.least, row.most)
		}
	}
}
