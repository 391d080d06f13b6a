package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"bakeoff/harness/meter"
	"bakeoff/internal/knownhost"
)

// Options say what a listener tells. Only Read is needed.
type Options struct {
	// Read reads the meters; the function Own makes one of this process's.
	Read func() (Usage, error)
	// Own says that what is read is this process, so that /metrics has the figures of its Go runtime, too.
	Own bool
	// Hosts are further names by which it may be asked.
	Hosts []string
	// Pprof serves profiles. They slow the process down while they are taken.
	Pprof bool
	// Examine starts a server as Examination says, tells its port, and runs it until ctx ends; nil where there is none.
	Examine func(ctx context.Context, tell func(port int)) error
}

// The bounds of what a client may make the listener hold.
const (
	headerTime = 5 * time.Second
	headerMax  = 16 << 10
	stopTime   = time.Second // for answers under way when it closes
)

// Server is a listener under way.
type Server struct {
	options Options
	l       net.Listener
	http    http.Server
	info    atomic.Pointer[Info] // nil: not ready
	busy    atomic.Bool          // an examination is under way
	stop    context.CancelFunc   // ends examinations
	done    sync.WaitGroup
}

// Listen serves on l, which it closes in the end. Nothing is ready yet.
func Listen(l net.Listener, o Options) *Server {
	s := &Server{options: o, l: l}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.http = http.Server{
		Handler:           knownhost.Handler(o.Hosts, s.routes()),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       10 * time.Minute, // longer than a trial: a reading at the edge of a window should not dial
		MaxHeaderBytes:    headerMax,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	s.done.Go(func() { _ = s.http.Serve(l) }) // it ends by Close; a listener that fails before is noticed by whoever asks
	return s
}

// Addr is where it listens.
func (s *Server) Addr() net.Addr { return s.l.Addr() }

// Ready begins to tell info, of which Kind, Schema and what the runtime knows are filled in.
func (s *Server) Ready(info Info) {
	info.Kind, info.Schema = Kind, Schema
	info.Go, info.OS, info.Arch = runtime.Version(), runtime.GOOS, runtime.GOARCH
	info.CPUs, info.GOMAXPROCS = runtime.NumCPU(), runtime.GOMAXPROCS(0)
	info.Examines = s.options.Examine != nil
	s.info.Store(&info)
}

// Stopping says that it is not ready any more.
func (s *Server) Stopping() { s.info.Store(nil) }

// Close ends the listener and what was asked of it. Answers under way have a second.
func (s *Server) Close() error {
	s.Stopping()
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.done.Wait()
	return err
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /ready", s.ready)
	mux.HandleFunc("GET /info", func(w http.ResponseWriter, _ *http.Request) {
		info := s.info.Load()
		if info == nil {
			http.Error(w, notReady, http.StatusServiceUnavailable)
			return
		}
		answer(w, info)
	})
	mux.HandleFunc("GET /usage", func(w http.ResponseWriter, _ *http.Request) {
		u, err := s.options.Read()
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		answer(w, u)
	})
	mux.HandleFunc("GET /runtime", func(w http.ResponseWriter, _ *http.Request) { answer(w, runtimeFigures()) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry(), promhttp.HandlerOpts{}))
	if s.options.Examine != nil {
		mux.HandleFunc("POST /examine", s.examine)
	}
	if s.options.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

const notReady = "not ready: it starts, or it stops"

func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.info.Load() == nil {
		http.Error(w, notReady, http.StatusServiceUnavailable)
		return
	}
	if _, err := s.options.Read(); err != nil { // what it is to tell of has gone
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// examine keeps the other server for as long as the client keeps the request. The body is read to its end first: only then does
// net/http notice that a client is gone.
func (s *Server) examine(w http.ResponseWriter, r *http.Request) {
	if !s.busy.CompareAndSwap(false, true) {
		http.Error(w, "an examination is under way: one at a time", http.StatusConflict)
		return
	}
	defer s.busy.Store(false)
	told := false
	tell := func(e Examination) {
		told = true
		answer(w, e)
		_ = http.NewResponseController(w).Flush() // a client that is gone ends the request's context
	}
	err := s.options.Examine(r.Context(), func(port int) { tell(Examination{Port: port}) })
	if err != nil && !told {
		tell(Examination{Error: err.Error()})
	}
}

// answer writes v as a line of JSON. What can't be written is the client's to notice.
func answer(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n'))
}

// started is what uptimes count from.
var started = time.Now()

// Uptime is how long this process has run at a moment of its own.
func Uptime(at time.Time) time.Duration { return at.Sub(started) }

// Own makes what reads this process, with what its quotas did. A reading costs about half a millisecond of CPU, most of it for the
// switches of each thread: of a window of two seconds that keeps a core busy it is under 0.05 %.
func Own(counters func() map[string]int64) func() (Usage, error) { return own(meter.Read, counters) }

// OwnTree is Own of this process with all that it has started.
func OwnTree(counters func() map[string]int64) func() (Usage, error) {
	return own(meter.ReadTree, counters)
}

func own(read func(pid int) (meter.Reading, error), counters func() map[string]int64) func() (Usage, error) {
	throttled := meter.ThrottleOfThis()
	return func() (Usage, error) {
		r, err := read(os.Getpid())
		return Usage{Reading: r, Uptime: Uptime(r.At), Counters: counters(), Throttled: throttled()}, err
	}
}
