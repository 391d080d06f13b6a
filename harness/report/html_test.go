package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// element is a part of the page as a reader of XML sees it, which forgives less than a browser.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e element) text() string {
	s := e.Text
	for _, c := range e.Children {
		s += c.text()
	}
	return strings.TrimSpace(s)
}

// all are the elements of a name, at any depth.
func (e element) all(name string) []element {
	var out []element
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			out = append(out, c)
		}
		out = append(out, c.all(name)...)
	}
	return out
}

func bodyOf(t *testing.T, tables Tables) element {
	t.Helper()
	b, err := HTMLBody(tables)
	if err != nil {
		t.Fatal(err)
	}
	var root element
	d := xml.NewDecoder(io.MultiReader(strings.NewReader("<body>"), bytes.NewReader(b), strings.NewReader("</body>")))
	if err := d.Decode(&root); err != nil {
		t.Fatalf("%v in %.3000s", err, b)
	}
	return root
}

// The page needs nothing but itself, and a policy says so to the browser.
func TestHTMLIsOneFile(t *testing.T) {
	outside := regexp.MustCompile(`(?i)\s(src|href|action|xlink:href)\s*=\s*"([^"]*)"|@import|url\(|\sstyle=|\son[a-z]+=`)
	for _, name := range checkedIn() {
		page := render(t, HTML, load(t, name))
		if len(page) > 2e6 {
			t.Errorf("%s: %d bytes", name, len(page))
		}
		for _, m := range outside.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(m[2], "#") && m[2] != "data:," {
				t.Errorf("%s: the page has %s", name, m[0])
			}
		}
		for _, part := range []string{"style", "script"} {
			_, rest, ok := strings.Cut(page, "<"+part+">")
			inside, _, end := strings.Cut(rest, "</"+part+">")
			if !ok || !end || strings.Count(page, "<"+part) != 1 || !strings.Contains(page, "sha256-"+strings.ReplaceAll(digest(inside), "+", "&#43;")) {
				t.Errorf("%s: its %s is not the one that the policy allows", name, part)
			}
		}
	}
}

// rowsOf are the cells of a table by the name of the row.
func rowsOf(table element) (head []string, rows map[string][]string) {
	for _, th := range table.all("thead")[0].all("th") {
		head = append(head, th.text())
	}
	rows = map[string][]string{}
	for _, tr := range table.all("tbody")[0].all("tr") {
		var cells []string
		for _, c := range tr.Children {
			cells = append(cells, c.text())
		}
		rows[strings.TrimSpace(tr.Children[0].Text)] = cells
	}
	return head, rows
}

var factorsOf = map[string]float64{"k req/s": 1e3, "req/s": 1, "M req/s": 1e6, "ms": 1e-3, "us": 1e-6, "s": 1, "ns": 1e-9}

func TestHTMLEqualsJSON(t *testing.T) {
	for _, name := range checkedIn() {
		tables, want := asJSON(t, name)
		checked := 0
		for _, table := range bodyOf(t, tables).all("table") {
			head, rows := rowsOf(table)
			for _, r := range want.Rows {
				cells, ok := rows[strings.TrimSpace(rowName(want.Rows, r))]
				if !ok {
					continue
				}
				for i, h := range head {
					if o := r.Outcomes; o != nil {
						if n, is := map[string]uint64{"ok": o.OK, "failed": o.Failed, "cut off": o.CutOff, "dropped": o.Dropped}[h]; is && cells[i] != strconv.FormatUint(n, 10) {
							t.Errorf("%s: %s of %s is %s, want %d", name, h, r.Subject, cells[i], n)
						}
					}
					metric, unit := "", ""
					for prefix, m := range map[string]string{"p50 ": "latency_p50", "p99 ": "latency_p99", "server us": "server_cpu_per_req"} {
						if strings.HasPrefix(h, prefix) && strings.HasPrefix(table.all("caption")[0].text(), map[bool]string{true: "CPU per request", false: "Latency"}[m == "server_cpu_per_req"]) {
							metric, unit = m, h[strings.Index(h, " ")+1:]
						}
					}
					if strings.HasSuffix(h, "req/s") && strings.HasPrefix(table.all("caption")[0].text(), "Throughput") {
						metric, unit = "throughput", h
					}
					v, known := r.Metrics[metric]
					if metric == "" || !known {
						continue
					}
					number, _, _ := strings.Cut(strings.TrimLeft(cells[i], "*="), " ")
					got, err := strconv.ParseFloat(number, 64)
					if err != nil || math.Abs(got*factorsOf[unit]-v.Median) > 0.006*v.Median {
						t.Errorf("%s: %s of %s is %q (%s), want %v", name, metric, r.Subject, cells[i], unit, v.Median)
					}
					checked++
				}
			}
		}
		if checked < 3*want.Measured/20 {
			t.Errorf("%s: only %d figures were found", name, checked)
		}
	}
}

// What is doubted of a row stands on the page, and every chart says in words what it shows.
func TestHTMLDoubtsAndWords(t *testing.T) {
	for _, name := range checkedIn() {
		tables := load(t, name)
		body := bodyOf(t, tables)
		text := body.text()
		doubts := layout(tables, documentForm).doubts
		for _, r := range tables.Rows {
			for _, f := range r.Flags {
				if i := slices.IndexFunc(doubts, newNote(f.Kind, clean(f.Text)).like); i < 0 || !strings.Contains(text, doubts[i].text()) {
					t.Errorf("%s: the page lacks %q", name, f.Text)
				}
			}
		}
		for _, w := range tables.Words {
			if !strings.Contains(text, clean(w)) {
				t.Errorf("%s: the page lacks %q", name, w)
			}
		}
		for _, svg := range body.all("svg") {
			if svg.attr("role") != "img" || len(svg.all("title")) != 1 || len(svg.all("desc")) != 1 || svg.all("desc")[0].text() == "" {
				t.Errorf("%s: chart %s has no words", name, svg.attr("data-chart"))
			}
		}
		for _, table := range body.all("table") {
			if len(table.all("caption")) != 1 || slices.ContainsFunc(table.all("th"), func(th element) bool { return th.attr("scope") == "" }) {
				t.Errorf("%s: a table has no caption, or heads of nothing", name)
			}
		}
		ids := map[string]bool{}
		var look func(element)
		look = func(e element) {
			if id := e.attr("id"); id != "" {
				if ids[id] {
					t.Errorf("%s: two elements are %q", name, id)
				}
				ids[id] = true
			}
			for _, c := range e.Children {
				look(c)
			}
		}
		look(body)
		for _, a := range body.all("a") {
			if !ids[strings.TrimPrefix(a.attr("href"), "#")] {
				t.Errorf("%s: %s leads nowhere", name, a.attr("href"))
			}
		}
	}
}

// detailed is a run with slices and with options that differ, of one or several rounds.
func detailed(rounds int) result.File {
	var trials []result.Trial
	for round := 1; round <= rounds; round++ {
		for _, s := range []string{"a", "b"} {
			tr := small(s, round, 100, 1, 1)
			tr.Window = 1
			tr.Options = json.RawMessage(fmt.Sprintf(`{"timeout":"5s","tls":{"on":%t}}`, s == "b"))
			for i := range 10 {
				tr.Slices = append(tr.Slices, result.Slice{OK: uint64(10 + i), Mean: 1e6})
			}
			trials = append(trials, tr)
		}
	}
	f := fileOf([]string{"a", "b"}, trials...)
	f.Header.Command, f.Header.Seed = []string{"bakeoff", "run", "--store", "it's here"}, 18446744073709551615
	return f
}

func TestHTMLTimelinesOptionsCommand(t *testing.T) {
	for _, rounds := range []int{1, 3} {
		tables, err := Build(detailed(rounds), Options{})
		if err != nil {
			t.Fatal(err)
		}
		body := bodyOf(t, tables)
		var words string
		for _, svg := range body.all("svg") {
			if svg.attr("data-chart") == "timeline-rate" {
				words = svg.all("desc")[0].text()
				lines := 0
				for _, p := range svg.all("path") {
					if strings.Contains(p.attr("class"), "faint") {
						lines++
					}
				}
				if lines != 2*rounds {
					t.Errorf("%d thin lines for %d rounds of two rows", lines, rounds)
				}
			}
		}
		if !strings.Contains(words, "between 100 and 190") { // 10 to 19 calls in a tenth of a second
			t.Errorf("the timeline says %q", words)
		}
		for _, table := range body.all("table") {
			if !strings.HasPrefix(table.all("caption")[0].text(), "What both ends were told") {
				continue
			}
			_, rows := rowsOf(table)
			if got := strings.Join(rows["tls.on"], "|"); got != "tls.on|false|true|differs" {
				t.Errorf("options: %s", got)
			}
			if got := strings.Join(rows["timeout"], "|"); got != "timeout|5s|5s|same" {
				t.Errorf("options: %s", got)
			}
		}
		if got := body.all("code")[0].text(); got != `bakeoff run --store 'it'\''s here' --seed 18446744073709551615` {
			t.Errorf("command: %s", got)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 42, "0 10 20 30 40"}, {0, 1, "0 0.2 0.4 0.6 0.8 1"}, {3.1, 3.4, "3.1 3.2 3.3 3.4"}, {0, 1e-9, "0 2e-10 4e-10 6e-10 8e-10 1e-09"}, {5, 5, "5"}, {0, 1e100, "0 2e+99 4e+99 6e+99 8e+99 1e+100"},
	} {
		var got []string
		for _, k := range ticks(c.low, c.high) {
			got = append(got, k.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("from %v to %v: %q, want %s", c.low, c.high, got, c.want)
		}
	}
}

// TestHTMLTimelinesOfCPU draws the CPU a call of each role: the parts that are known, and nothing where one is not.
func TestHTMLTimelinesOfCPU(t *testing.T) {
	f := detailed(2)
	for i := range f.Trials {
		tr := &f.Trials[i]
		for k := range tr.Slices {
			sl := &tr.Slices[k]
			sl.CPU = map[string]float64{"client": float64(sl.OK) * 20e-6}
			if tr.Subject == "a" {
				sl.CPU["server"] = float64(sl.OK) * float64(30+k) * 1e-6
			}
			switch {
			case tr.Subject == "a" && tr.Round == 1 && k == 4: // a hole in one round
				sl.CPU = nil
			case tr.Subject == "a" && k == 7: // nothing came back: no call that anything was used for
				sl.OK = 0
			}
		}
	}
	tables, err := Build(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	type chart struct {
		words       string
		thin, thick int
	}
	charts := map[string]chart{}
	for _, svg := range bodyOf(t, tables).all("svg") {
		if !strings.HasPrefix(svg.attr("data-chart"), "timeline-cpu") {
			continue
		}
		c := chart{words: svg.all("desc")[0].text()}
		for _, p := range svg.all("path") {
			switch class := p.attr("class"); {
			case strings.Contains(class, "faint"):
				c.thin++
			case strings.Contains(class, "mark") && p.attr("stroke-width") == "2":
				c.thick++
			}
		}
		charts[svg.attr("data-chart")] = c
	}
	// Of a's server round 1 has the parts 0-3, 5-6 and 8-9, round 2 has 0-6 and 8-9; their median, like round 2, has two parts, and the legend one line.
	for name, want := range map[string]chart{
		"timeline-cpu-server": {"CPU per call of the server within the rounds, us: a @ 10 between 30.0 and 39.0; b @ 10 unknown.", 5, 3},
		"timeline-cpu-client": {"CPU per call of the client within the rounds, us: a @ 10 between 20.0 and 20.0; b @ 10 between 20.0 and 20.0.", 7, 5},
	} {
		if charts[name] != want {
			t.Errorf("%s: %+v, want %+v", name, charts[name], want)
		}
	}
	if _, there := charts["timeline-cpu-store"]; there {
		t.Error("there is a picture of a store of which nothing is known")
	}
}

// Text in a chart takes the room that was measured for it, whatever font the reader's machine has: names of rows end where the bars begin.
func TestHTMLTextKeepsItsRoom(t *testing.T) {
	texts := 0
	for _, svg := range bodyOf(t, load(t, "complete")).all("svg") {
		for _, text := range svg.all("text") {
			texts++
			room, err := strconv.ParseFloat(text.attr("textLength"), 64)
			x, errX := strconv.ParseFloat(text.attr("x"), 64)
			if err != nil || errX != nil || !(room > 0) || text.attr("lengthAdjust") != "spacingAndGlyphs" {
				t.Fatalf("%q takes the room %q at %q", text.text(), text.attr("textLength"), text.attr("x"))
			}
			if text.attr("transform") == "" && x+room > pictureWidth+1 {
				t.Errorf("%q begins at %v, is %v wide, and the chart is %d", text.text(), x, room, pictureWidth)
			}
		}
	}
	if texts == 0 {
		t.Error("the charts have no text")
	}
}
