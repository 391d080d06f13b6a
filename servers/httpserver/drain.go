package httpserver

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"bakeoff/httpapi/serving"
	"bakeoff/protocol"
)

// How a server stops: calls have drainTime to finish; ended ones have graceTime to notice that they were ended.
const (
	drainTime = 3 * time.Second
	graceTime = time.Second
	kickEvery = 20 * time.Millisecond
)

// tracker knows the open connections, because fasthttp by itself waits 5 s for a connection that never carried a
// call, and forgets those that became a WebSocket.
type tracker struct {
	mu       sync.Mutex
	draining bool
	conns    map[net.Conn]bool // true: an upload is being read from it
	chats    *serving.Chats
}

func newTracker() *tracker {
	return &tracker{conns: make(map[net.Conn]bool), chats: serving.NewChats()}
}

// state is fasthttp's hook. It works only where a connection begins and ends: the rest is on the measured path.
func (t *tracker) state(c net.Conn, s fasthttp.ConnState) {
	switch s {
	case fasthttp.StateNew:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.conns[c] = false
		if t.draining {
			_ = protocol.Cut(c)
		}
	case fasthttp.StateClosed, fasthttp.StateHijacked:
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.conns, c)
	}
}

// upload marks a connection whose request is still being read, and has idle to go on.
func (t *tracker) upload(c net.Conn, on bool, idle time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, open := t.conns[c]; !open {
		return
	}
	t.conns[c] = on
	if on && t.draining { // kick may have come before the mark
		_ = c.SetReadDeadline(time.Now().Add(idle))
	}
}

// forget leaves a connection that has become a WebSocket to the chats. fasthttp says so only some time after the chat has
// begun.
func (t *tracker) forget(c net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}

// kick ends the reads that wait for a request which nobody has begun to send. A connection that is being answered
// does not read; an upload, and a chat under way, are left alone.
func (t *tracker) kick() {
	t.chats.Kick() // first: a connection that was kicked begins no chat
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = true
	past := time.Unix(1, 0)
	for c, uploading := range t.conns {
		if !uploading {
			_ = c.SetReadDeadline(past)
		}
	}
}

func (t *tracker) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		_ = protocol.Cut(c)
	}
	t.chats.CloseAll()
}

// drain stops s: no new connections, idle ones are closed, calls get the patience to finish, then cancel ends their
// context and their connections are closed.
func (t *tracker) drain(s *fasthttp.Server, patience time.Duration, cancel context.CancelFunc) {
	t.kick() // before anything waits: from here on no chat begins
	done := make(chan struct{})
	limit, stop := context.WithTimeout(context.Background(), patience+graceTime)
	defer stop()
	go func() {
		defer close(done)
		_ = s.ShutdownWithContext(limit) // polls every 100 ms
		t.chats.Wait()
	}()
	tick := time.NewTicker(kickEvery)
	defer tick.Stop()
	hard := time.NewTimer(patience)
	defer hard.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			t.kick() // again: a connection may have set its own deadline just after ours
		case <-hard.C:
			cancel()
			t.closeAll()
			select {
			case <-done:
			case <-limit.Done(): // a rule that ignores its context is left behind
			}
			return
		}
	}
}
