package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// JUnit is for the test reports of a CI: a suite for each workload, loop and store, a case for each row. A case fails where its row is not ranked, for
// then its figures are not what was to be measured, or its answers not those that were agreed; it is an error where rounds have no figures. Doubts
// that leave a row in its place stand in system-out. A case of the run itself fails where trials of the plan are missing. The properties are the
// medians, in base units.
var JUnit = Format{Name: "junit", Doc: "for the test reports of a CI: a case for each row, failed where it is not ranked", Write: writeJUnit}

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Timestamp string      `xml:"timestamp,attr,omitempty"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name       string           `xml:"name,attr"`
		Class      string           `xml:"classname,attr"`
		Time       string           `xml:"time,attr,omitempty"` // seconds
		Properties *junitProperties `xml:"properties"`
		Failures   []junitProblem   `xml:"failure"`
		Errors     []junitProblem   `xml:"error"`
		Out        string           `xml:"system-out,omitempty"`
	}
	junitProperties struct {
		All []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitProblem struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
	}
)

func writeJUnit(w io.Writer, t Tables) error {
	all := junitSuites{Name: clean("bakeoff " + t.Experiment)}
	all.add(t.junitRun())
	var last string
	var suite junitSuite
	for _, r := range t.Rows {
		if r.Step != "" {
			continue
		}
		name := clean(r.key().section())
		if name != last {
			all.add(suite)
			suite, last = junitSuite{Name: name, Timestamp: junitTime(t.Started)}, name
		}
		suite.Cases = append(suite.Cases, t.junitCase(r))
	}
	all.add(suite)
	return all.write(w)
}

func (all junitSuites) write(w io.Writer) error {
	b, err := xml.MarshalIndent(all, "", "  ")
	if err == nil {
		_, err = io.WriteString(w, xml.Header+string(b)+"\n")
	}
	if err != nil {
		return fmt.Errorf("write junit: %w", err)
	}
	return nil
}

func junitTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

// add counts a suite's cases and adds it; one without a case is none.
func (all *junitSuites) add(s junitSuite) {
	if len(s.Cases) == 0 {
		return
	}
	for _, c := range s.Cases {
		s.Tests++
		if len(c.Errors) > 0 {
			s.Errors++
		} else if len(c.Failures) > 0 {
			s.Failures++
		}
	}
	all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	all.Suites = append(all.Suites, s)
}

// junitRun is the case of the run as a whole.
func (t Tables) junitRun() junitSuite {
	c := junitCase{Name: "every trial of the plan was made", Class: clean("bakeoff." + t.Experiment)}
	if t.Interrupted {
		c.Failures = []junitProblem{{"interrupted", fmt.Sprintf("%d of %d trials are there", t.Present, t.Planned)}}
	}
	var out []string
	for _, w := range t.Warnings {
		out = append(out, "warning: "+clean(w.Text))
	}
	for _, w := range t.Words {
		out = append(out, clean(w))
	}
	c.Out = strings.Join(out, "\n")
	return junitSuite{Name: clean("bakeoff " + t.Experiment), Timestamp: junitTime(t.Started), Cases: []junitCase{c}}
}

func (t Tables) junitCase(r Row) junitCase {
	c := junitCase{Name: strings.TrimSpace(rowName(t.Rows, r)), Class: clean(strings.Join([]string{"bakeoff", t.Experiment, r.Subject}, "."))}
	if r.Seconds > 0 {
		c.Time = exact(r.Seconds)
	}
	for _, m := range Metrics {
		if v, ok := r.Metrics[m.Name]; ok {
			if c.Properties == nil {
				c.Properties = &junitProperties{}
			}
			c.Properties.All = append(c.Properties.All, junitProperty{m.Name, exact(v.Median)})
		}
	}
	var out []string
	for _, f := range r.Flags {
		p := junitProblem{Type: clean(f.Kind), Message: clean(f.Text)}
		switch {
		case f.Kind == FlagMissingRounds:
			c.Errors = append(c.Errors, p)
		case !r.Ranked && f.keepsOut():
			c.Failures = append(c.Failures, p)
		default:
			out = append(out, clean(f.Kind)+": "+clean(f.Text))
		}
	}
	if len(c.Errors) == 0 && r.Rounds == 0 {
		c.Errors = append(c.Errors, junitProblem{"no_figures", "no round has figures: " + strconv.Itoa(r.Missing) + " are missing"})
	}
	c.Out = strings.Join(out, "\n")
	return c
}
