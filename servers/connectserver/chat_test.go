package connectserver_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bakeoff/protocol"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// TestChatEndsWithItsContext: whoever reads a chat's answers is told when its context ends, also while the sequence of its
// notes waits for something else.
func TestChatEndsWithItsContext(t *testing.T) {
	addr, _ := serve(t, servicetest.API{}, protocol.Options{}, time.Second)
	c := dial(t, addr, protocol.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stuck := make(chan struct{})
	defer close(stuck)
	var last error
	for n, err := range c.RouteChat(ctx, func(yield func(service.RouteNote, error) bool) {
		if yield(service.RouteNote{Message: "first"}, nil) {
			<-stuck
		}
	}) {
		if last = err; err == nil && n.Message == "first" {
			// By then the reader waits for the next answer, nearly always; where it does not, the test holds all the same.
			defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("got error %v, want %v", last, context.Canceled)
	}
}
