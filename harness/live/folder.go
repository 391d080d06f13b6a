package live

import (
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bakeoff/harness/report"
	"bakeoff/harness/result"
	"bakeoff/internal/printable"
)

// suffix is that of the files that are offered.
const suffix = ".jsonl"

// maxBeside is how many runs stand side by side at most.
const maxBeside = 8

// listed is a file to choose.
type listed struct {
	Name, Shown, Experiment, Started, Trials string
	Path                                     string // the name as a part of an address
	Changed                                  time.Time
	Wrong                                    string // why it is no result file
}

// names are the result files of the folder, the newest first. Links and folders are left out: what is shown lies in the folder.
func (s *Server) names() ([]listed, error) {
	entries, err := os.ReadDir(s.options.Path)
	if err != nil {
		return nil, err
	}
	var out []listed
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // it has just gone
		}
		out = append(out, listed{Name: e.Name(), Shown: printable.Line(e.Name()), Path: url.PathEscape(e.Name()), Changed: info.ModTime()})
	}
	slices.SortStableFunc(out, func(a, b listed) int { return b.Changed.Compare(a.Changed) })
	return out[:min(len(out), maxViews)], nil
}

// view finds a file of the folder by its name.
func (s *Server) view(name string) (*view, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(names, func(l listed) bool { return l.Name == name }) {
		return nil, fmt.Errorf("there is no result file %.100q in the folder", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.views[name]
	if v == nil {
		if len(s.views) >= maxViews {
			clear(s.views) // pages that are open keep theirs
		}
		v = newView(filepath.Join(s.options.Path, name), s.opener(name), s.options.Report)
		s.views[name] = v
	}
	return v, nil
}

// opener opens a file within the folder, and follows no link out of it.
func (s *Server) opener(name string) func() (*os.File, error) {
	return func() (*os.File, error) { return os.OpenInRoot(s.options.Path, name) }
}

func (s *Server) read(name string) (result.File, error) {
	f, err := s.opener(name)()
	if err != nil {
		return result.File{}, err
	}
	defer f.Close()
	return result.Read(f, name)
}

// index lists the files. Each is read whole: a damaged one says so here.
func (s *Server) index(w http.ResponseWriter, _ *http.Request) {
	names, err := s.names()
	if err != nil {
		write(w, "error", http.StatusInternalServerError, shown{Title: "bakeoff", Error: err.Error()})
		return
	}
	for i := range names {
		l := &names[i]
		file, err := s.read(l.Name)
		if err != nil {
			l.Wrong = printable.Line(err.Error())
			continue
		}
		h := file.Header
		l.Experiment, l.Started = printable.Line(h.Experiment), "unknown"
		if !h.Started.IsZero() {
			l.Started = h.Started.UTC().Format(time.DateTime) + " UTC"
		}
		l.Trials = fmt.Sprintf("%d of %d", len(file.Trials), h.Planned)
	}
	write(w, "index", http.StatusOK, shown{Title: printable.Line("bakeoff results in " + s.options.Path), Files: names})
}

// beside lays the runs that were chosen side by side.
func (s *Server) beside(w http.ResponseWriter, r *http.Request) {
	refuse := func(code int, err error) {
		write(w, "error", code, shown{Title: "side by side", Back: true, Error: printable.Line(err.Error())})
	}
	chosen := r.URL.Query()["file"]
	if len(chosen) < 2 || len(chosen) > maxBeside {
		refuse(http.StatusBadRequest, fmt.Errorf("choose 2 to %d files, not %d", maxBeside, len(chosen)))
		return
	}
	var files []result.File
	for _, name := range chosen {
		if _, err := s.view(name); err != nil {
			refuse(http.StatusNotFound, err)
			return
		}
		file, err := s.read(name)
		if err != nil {
			refuse(codeOf(err), err)
			return
		}
		files = append(files, file)
	}
	runs, err := report.Merge(files)
	if err != nil {
		refuse(http.StatusUnprocessableEntity, err)
		return
	}
	body, err := besideBody(runs, s.options.Report)
	if err != nil {
		refuse(http.StatusUnprocessableEntity, err)
		return
	}
	write(w, "still", http.StatusOK, shown{Title: "bakeoff: runs side by side", Back: true, Body: template.HTML(body)}) // #nosec: a template of the report made it
}

// besideBody is the report of runs: of one where all files were shards of it.
func besideBody(runs []report.Merged, o report.Options) ([]byte, error) {
	if len(runs) == 1 {
		t, err := runs[0].Build(o)
		if err != nil {
			return nil, err
		}
		return report.HTMLBody(t)
	}
	b, err := report.LayBeside(runs, o)
	if err != nil {
		return nil, err
	}
	return report.HTMLBodyBeside(b)
}

func codeOf(err error) int {
	if errors.Is(err, fs.ErrNotExist) {
		return http.StatusNotFound
	}
	return http.StatusUnprocessableEntity
}
