package live

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"bakeoff/harness/report"
)

var (
	//go:embed page/live.js
	script string
	//go:embed page/live.tmpl
	pageText string
)

var templates = template.Must(template.New("live").Parse(pageText))

// shown is what the templates show.
type shown struct {
	Title string
	Back  bool // there is a list of files to go back to
	State state
	Body  template.HTML
	Files []listed
	Error string
}

// write answers with a template.
func write(w http.ResponseWriter, name string, code int, s shown) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, s); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = b.WriteTo(w) // a browser that has gone needs no answer
}

// of finds the view of a request, and looks at its file unless it is told of changes.
func (s *Server) of(answer func(http.ResponseWriter, *http.Request, *view)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := s.single
		if s.folder {
			var err error
			if v, err = s.view(r.PathValue("name")); err != nil {
				write(w, "error", http.StatusNotFound, shown{Title: "not found", Back: true, Error: err.Error()})
				return
			}
		}
		s.look(v)
		answer(w, r, v)
	}
}

// look makes the page of a file anew that nobody tells about.
func (s *Server) look(v *view) {
	if !s.options.Told {
		v.refresh()
	}
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request, v *view) {
	title, body, _ := v.contents()
	now, _ := v.now()
	write(w, "page", http.StatusOK, shown{Title: title, Back: s.folder, State: now, Body: template.HTML(body)}) // #nosec: a template of the report made it
}

// body is the report alone, which the page fetches when there is a new one.
func (s *Server) body(w http.ResponseWriter, _ *http.Request, v *view) {
	_, body, _ := v.contents()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(body)
}

// whole is the report as one file, to keep.
func (s *Server) whole(w http.ResponseWriter, _ *http.Request, v *view) {
	_, _, t := v.contents()
	if t == nil {
		write(w, "error", http.StatusNotFound, shown{Title: "no report", Back: s.folder, Error: "There is no report yet."})
		return
	}
	var b bytes.Buffer
	if err := report.HTML.Write(&b, *t); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="bakeoff-report.html"`)
	_, _ = b.WriteTo(w)
}

// events tells a page of every change, as server-sent events: the state, which has the number of the newest report.
func (s *Server) events(w http.ResponseWriter, r *http.Request, v *view) {
	if !s.enter() {
		http.Error(w, fmt.Sprintf("%d pages are open already: close one", maxPages), http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	look := time.NewTicker(s.options.Every)
	defer look.Stop()
	alive := time.NewTicker(beat)
	defer alive.Stop()
	send := func(format string, args ...any) bool {
		_ = c.SetWriteDeadline(time.Now().Add(writeTime)) // what can't have one ends with its connection
		if _, err := fmt.Fprintf(w, format, args...); err != nil {
			return false
		}
		return c.Flush() == nil
	}
	for {
		now, changed := v.now()
		b, err := json.Marshal(now)
		if err != nil || !send("event: state\ndata: %s\n\n", b) {
			return
		}
		for waiting := true; waiting; {
			select {
			case <-r.Context().Done():
				return
			case <-changed:
				waiting = false
			case <-look.C:
				s.look(v)
			case <-alive.C:
				if !send(": still here\n\n") {
					return
				}
			}
		}
	}
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages >= maxPages {
		return false
	}
	s.pages++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages--
}
