package httpserver

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"

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
	conns    map[net.Conn]bool        // true: an upload is being read from it
	chats    map[*websocket.Conn]bool // true: in a chat
	gone     sync.WaitGroup           // the chats' goroutines
}

func newTracker() *tracker {
	return &tracker{conns: make(map[net.Conn]bool), chats: make(map[*websocket.Conn]bool)}
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

// join keeps the WebSocket that the connection c has become until leave; it says no when the server is stopping.
func (t *tracker) join(c net.Conn, ws *websocket.Conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.draining {
		return false
	}
	delete(t.conns, c) // fasthttp says so only some time after the chat has begun
	t.chats[ws] = false
	t.gone.Add(1)
	return true
}

func (t *tracker) leave(ws *websocket.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.chats, ws)
	t.gone.Done()
}

// chatting marks a WebSocket as in a chat or idle; it says no to a chat that would begin, and to an idle time that
// would, when the server is stopping.
func (t *tracker) chatting(ws *websocket.Conn, on bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chats[ws] = on
	return !t.draining
}

// kick ends the reads that wait for a request which nobody has begun to send. A connection that is being answered
// does not read; an upload, and a chat under way, are left alone.
func (t *tracker) kick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = true
	past := time.Unix(1, 0)
	for c, uploading := range t.conns {
		if !uploading {
			_ = c.SetReadDeadline(past)
		}
	}
	for ws, busy := range t.chats {
		if !busy {
			_ = ws.NetConn().SetReadDeadline(past)
		}
	}
}

func (t *tracker) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		_ = protocol.Cut(c)
	}
	for ws := range t.chats {
		// What fasthttp handed out closes only when its handler returns; the socket below can be closed now.
		_ = protocol.Cut(under(ws.NetConn()))
	}
}

func under(c net.Conn) net.Conn {
	if u, ok := c.(interface{ UnsafeConn() net.Conn }); ok {
		return u.UnsafeConn()
	}
	return c
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
		t.gone.Wait()
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
