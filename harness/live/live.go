// Package live shows result files in a browser while they grow: the page of the report, made again whenever a trial has been added, with
// where the run stands above it. It reads files and answers requests; it changes nothing, and knows nothing of who writes the files.
package live

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"bakeoff/harness/report"
	"bakeoff/internal/knownhost"
)

// Options say what is shown, and to whom.
type Options struct {
	// Path is a result file, or a folder of them to choose from. A file need not be there yet.
	Path string
	// Report is how reports are made.
	Report report.Options
	// Hosts are further names by which the page may be asked for.
	Hosts []string
	// Told says that the page is made anew by Refresh alone: for a run in this process, which calls it between trials. Else the file is looked
	// at whenever a page is open.
	Told bool
	// Every is how often a file is looked at for each page that is open; 0 for once a second.
	Every time.Duration
}

// Server shows what its Options say. Its methods may be called by several goroutines.
type Server struct {
	options Options
	folder  bool
	single  *view // of a file

	mu    sync.Mutex
	views map[string]*view // of a folder
	pages int              // open streams of events
}

// The bounds of what browsers may make it hold.
const (
	maxPages   = 64
	maxViews   = 200
	headerTime = 5 * time.Second
	headerMax  = 16 << 10
	writeTime  = 10 * time.Second
	beat       = 15 * time.Second
	stopTime   = 2 * time.Second // for answers under way in the end
)

// New prepares a server; the error is that of a path that is neither a file nor a folder.
func New(o Options) (*Server, error) {
	if o.Every <= 0 {
		o.Every = time.Second
	}
	s := &Server{options: o, views: map[string]*view{}}
	info, err := os.Stat(o.Path)
	switch {
	case err == nil && info.IsDir():
		s.folder = true
		return s, nil
	case err != nil && !o.Told:
		return nil, err
	}
	s.single = newView(o.Path, func() (*os.File, error) { return os.Open(o.Path) }, o.Report)
	return s, nil
}

// Refresh makes the page anew. A run calls it between trials, so that it takes nothing from what is measured.
func (s *Server) Refresh() {
	if s.single != nil {
		s.single.refresh()
	}
}

// Tell says where the run stands.
func (s *Server) Tell(p Progress) {
	if s.single != nil {
		s.single.tell(p)
	}
}

// Handler answers for the pages.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, file := range map[string]struct{ kind, text string }{
		"/style.css": {"text/css; charset=utf-8", report.HTMLStyle},
		"/sort.js":   {"text/javascript; charset=utf-8", report.HTMLScript},
		"/live.js":   {"text/javascript; charset=utf-8", script},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", file.kind)
			_, _ = w.Write([]byte(file.text)) // a browser that has gone needs no answer
		})
	}
	if s.folder {
		mux.HandleFunc("GET /{$}", s.index)
		mux.HandleFunc("GET /beside", s.beside)
	}
	base := "/"
	if s.folder {
		base = "/file/{name}/"
	}
	mux.HandleFunc("GET "+base+"{$}", s.of(s.page))
	mux.HandleFunc("GET "+base+"body", s.of(s.body))
	mux.HandleFunc("GET "+base+"report.html", s.of(s.whole))
	mux.HandleFunc("GET "+base+"events", s.of(s.events))
	return knownhost.Handler(s.options.Hosts, guarded(mux))
}

// guarded sets what browsers need to know so that a page of ours does nothing but what it is for.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "+
			"form-action 'self'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// Serve answers on l until ctx ends, and closes it.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx) // pages that are open end with it
	defer cancel()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerMax, BaseContext: func(net.Listener) context.Context { return ctx }}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer stop()
	err := server.Shutdown(end)
	if err != nil {
		err = server.Close() // a browser that does not read is no reason to wait for it, nor to fail
	}
	if serveErr := <-failed; err == nil && !errors.Is(serveErr, http.ErrServerClosed) {
		err = serveErr
	}
	return err
}
