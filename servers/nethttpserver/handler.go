package nethttpserver

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/fasthttp/websocket"

	"bakeoff/httpapi"
	"bakeoff/httpapi/serving"
	"bakeoff/protocol/gzipped"
)

// handler carries requests to the rules, and their answers back. It is used by all connections at once.
type handler struct {
	rules   *serving.Rules
	headers bool
	openAPI []byte
	lines   bool // a chat is a stream of lines
	chats   *serving.Chats
}

// What headers are made of, so that none is made anew. Nobody changes them.
var (
	typeJSON    = []string{httpapi.TypeJSON}
	typeNDJSON  = []string{httpapi.TypeNDJSON}
	typeProblem = []string{httpapi.TypeProblem}
	challenge   = []string{serving.Challenge}
	inGzip      = []string{gzipped.Encoding}
	noHeader    []string // keeps net/http from sending one of its own
)

// ServeHTTP finds what a path means.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	op := serving.Find(path)
	if no := h.check(op, r); no != nil {
		if no.Allow != "" {
			w.Header().Set("Allow", no.Allow)
		}
		h.problem(w, no.Problem)
		return
	}
	switch op {
	case serving.DataType, serving.Login, serving.Echo:
		h.body(w, r, op)
	case serving.GetFeature:
		s := httpapi.GetScratch()
		defer s.Release()
		s.B = h.unary(w, r, op, []byte(serving.Place(path)), s.B)
	case serving.ListFeatures:
		h.listFeatures(w, r)
	case serving.RecordRoute:
		h.recordRoute(w, r)
	case serving.Chat:
		if h.lines {
			h.chatLines(w, r)
		} else {
			h.chat(w, r)
		}
	case serving.OpenAPI:
		h.send(w, r, typeJSON, h.openAPI)
	case serving.Health:
		h.send(w, r, typeJSON, []byte(serving.Healthy))
	}
}

// check is what is wrong with a request's head; nil is nothing.
func (h *handler) check(op serving.Op, r *http.Request) *serving.Refusal {
	contentType := first(r.Header["Content-Type"])
	if op == serving.Chat && h.lines {
		return serving.Post(r.Method, r.URL.Path, contentType, httpapi.TypeNDJSON)
	}
	no := serving.Check(op, r.Method, r.URL.Path, contentType)
	if no == nil {
		no = serving.Encoded(op, first(r.Header["Content-Encoding"]))
	}
	return no
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// body reads a JSON body and answers it. The answer goes behind the body, which is still needed while it is made.
func (h *handler) body(w http.ResponseWriter, r *http.Request, op serving.Op) {
	s := httpapi.GetScratch()
	defer s.Release()
	read := h.rules.Read
	if len(r.Header["Content-Encoding"]) > 0 {
		read = h.rules.ReadZipped
	}
	var err error
	if s.B, err = read(r.Body, int(r.ContentLength), s.B); err != nil {
		h.badBody(w, r, err)
		return
	}
	h.unary(w, r, op, s.B, s.B[len(s.B):])
}

// unary answers with JSON, which it has written to out, and returns that.
func (h *handler) unary(w http.ResponseWriter, r *http.Request, op serving.Op, in, out []byte) []byte {
	answer, set, err := h.rules.Unary(r.Context(), op, in, out, func() string { return tokenOf(r) })
	if err != nil {
		h.fail(w, err)
		return out
	}
	if set.Token != "" {
		c := &http.Cookie{Name: httpapi.TokenCookie, Value: set.Token, Path: "/", Expires: set.Expires, HttpOnly: true, SameSite: http.SameSiteLaxMode}
		if c.Valid() == nil { // net/http would hand out another token, without the bytes that a cookie can't have
			w.Header().Add("Set-Cookie", c.String())
		}
	}
	h.answer(w, r, answer)
	return answer
}

// answer sends JSON of the rules.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, out []byte) {
	contentType := typeJSON
	if !h.headers {
		contentType = noHeader
	}
	out, zipped := h.rules.Compress(first(r.Header["Accept-Encoding"]), out)
	if zipped {
		w.Header()["Content-Encoding"] = inGzip
	}
	h.send(w, r, contentType, out)
}

// send sends a whole body with status 200.
func (h *handler) send(w http.ResponseWriter, r *http.Request, contentType []string, body []byte) {
	head := h.head(w, contentType)
	head["Content-Length"] = []string{strconv.Itoa(len(body))}
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that is gone is told nothing
	}
}

// head sets what stands above every answer.
func (h *handler) head(w http.ResponseWriter, contentType []string) http.Header {
	head := w.Header()
	head["Content-Type"] = contentType
	if !h.headers {
		head["Date"] = noHeader
	}
	return head
}

func (h *handler) listFeatures(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	list, err := h.rules.List(r.Context(), query.Get)
	if err != nil {
		h.fail(w, err)
		return
	}
	contentType := typeNDJSON
	if !h.headers {
		contentType = noHeader
	}
	h.head(w, contentType)
	if list.Empty || r.Method == http.MethodHead {
		list.Stop()
		return
	}
	flush := http.NewResponseController(w).Flush
	list.Send(func(piece []byte) error { return push(w, flush, piece) })
}

// push sends a part of a body at once.
func push(w io.Writer, flush func() error, piece []byte) error {
	if _, err := w.Write(piece); err != nil {
		return err
	}
	return flush()
}

// recordRoute has the points read as they arrive.
func (h *handler) recordRoute(w http.ResponseWriter, r *http.Request) {
	s := httpapi.GetScratch()
	defer s.Release()
	var err error
	s.B, err = h.rules.Record(r.Context(), h.patient(w, r), s.B)
	var arrived *serving.Arrived
	switch {
	case errors.As(err, &arrived):
		h.badBody(w, r, arrived.Err)
	case err != nil:
		h.fail(w, err)
	default:
		h.answer(w, r, s.B)
	}
}

// patient is the body of a request that may take its time.
func (h *handler) patient(w http.ResponseWriter, r *http.Request) io.Reader {
	return &serving.Patient{Body: r.Body, Idle: h.rules.Idle, Extend: http.NewResponseController(w).SetReadDeadline}
}

// chatLines holds a chat whose notes are lines of the request's body and of the answer's. The head goes out before the
// first note, so that a client may wait for it.
func (h *handler) chatLines(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	contentType := typeNDJSON
	if !h.headers {
		contentType = noHeader
	}
	h.head(w, contentType)
	if control.Flush() != nil {
		return
	}
	h.rules.ChatLines(r.Context(), h.patient(w, r), func(line []byte) error { return push(w, control.Flush, line) })
}

// chat makes the connection a WebSocket. Nobody watches it for net/http any more: its context ends with the server.
func (h *handler) chat(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{
		Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
			w.Header().Set("Sec-WebSocket-Version", "13")
			h.problem(w, serving.UpgradeProblem(status, reason))
		},
	}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // a refusal has been answered
	}
	defer ws.Close()
	h.chats.Serve(r.Context(), h.rules, ws)
}

// badBody answers a request whose body did not arrive as it should.
func (h *handler) badBody(w http.ResponseWriter, r *http.Request, err error) {
	p, closed := h.rules.BadBody(r.Body, err)
	if closed && r.ProtoMajor == 1 { // a stream of HTTP/2 ends by itself
		w.Header().Set("Connection", "close")
	}
	h.problem(w, p)
}

// fail answers with the problem of any error.
func (h *handler) fail(w http.ResponseWriter, err error) {
	h.problem(w, httpapi.NewProblem(err))
}

func (h *handler) problem(w http.ResponseWriter, p httpapi.Problem) {
	body := httpapi.AppendProblem(nil, p)
	head := h.head(w, typeProblem)
	head["Content-Length"] = []string{strconv.Itoa(len(body))}
	if p.Status == http.StatusUnauthorized {
		head["Www-Authenticate"] = challenge
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

// tokenOf is the token that a request carries outside its body: the cookie's, or else the bearer's.
func tokenOf(r *http.Request) string {
	if c, err := r.Cookie(httpapi.TokenCookie); err == nil && c.Value != "" {
		return c.Value
	}
	return serving.Bearer(r.Header.Get("Authorization"))
}
