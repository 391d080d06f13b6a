package serving

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/fasthttp/websocket"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/service"
)

// Chats are the WebSockets of one server, which no library knows once they are that. It is a nethttp.Hijacked.
type Chats struct {
	mu       sync.Mutex
	draining bool
	open     map[*websocket.Conn]bool // true: in a chat
	gone     sync.WaitGroup           // their goroutines
}

// NewChats has none yet.
func NewChats() *Chats { return &Chats{open: make(map[*websocket.Conn]bool)} }

// UpgradeProblem is the answer to a request for a chat that is refused by the library of WebSockets.
func UpgradeProblem(status int, reason error) httpapi.Problem {
	code := service.InvalidArgument
	if status == http.StatusForbidden {
		code = service.Unauthenticated
	}
	return httpapi.ProblemWith(status, service.Errorf(code, "%v: %s is a WebSocket", reason, httpapi.PathChat))
}

// Serve holds one chat after another on ws, until the client leaves or the server stops.
func (g *Chats) Serve(ctx context.Context, r *Rules, ws *websocket.Conn) {
	if !g.join(ws) {
		return
	}
	defer g.leave(ws)
	c := &chats{talk: talk{r: r, ctx: ctx}, ws: ws}
	c.read, c.write = c.hear, c.tell
	for c.wait() && g.chatting(ws, true) && c.one() && g.chatting(ws, false) {
	}
}

// join keeps ws until leave; it says no when the server is stopping.
func (g *Chats) join(ws *websocket.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.draining {
		return false
	}
	g.open[ws] = false
	g.gone.Add(1)
	return true
}

func (g *Chats) leave(ws *websocket.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, ws)
	g.gone.Done()
}

// chatting marks a WebSocket as in a chat or idle; it says no to a chat that would begin, and to an idle time that
// would, when the server is stopping.
func (g *Chats) chatting(ws *websocket.Conn, on bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open[ws] = on
	return !g.draining
}

// Kick ends the reads that wait for a chat which nobody has begun, and lets none begin. A chat under way is left alone.
func (g *Chats) Kick() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.draining = true
	for ws, busy := range g.open {
		if !busy {
			_ = ws.NetConn().SetReadDeadline(time.Unix(1, 0))
		}
	}
}

// Wait waits until there are none. Kick has been called.
func (g *Chats) Wait() { g.gone.Wait() }

// CloseAll ends all.
func (g *Chats) CloseAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for ws := range g.open {
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
