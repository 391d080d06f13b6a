package report

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
)

// page is what the template shows: the document of all formats for people, with pictures and what one needs to do it again.
type page struct {
	Title                 string
	Head, Warnings, Words []string
	Empty                 string
	Sections              []pageSection
	Notes, Legend         []string
	Environment, Settings []fact
	Options               optionTable
	Command               string
	Reproduce             []string
	Policy                string
	Style, Script         template.HTML
}

type pageSection struct {
	Title  string
	Charts []picture
	Single bool // one level: there is no chart against it
	Tables []pageTable
}

type pageTable struct {
	Caption string
	Head    []string
	Rows    []pageRow
}

type pageRow struct {
	Name  string
	Notes []string // numbers
	Cells []pageCell
}

type pageCell struct {
	Text string
	Best bool
}

// fact is a name and what stands behind it.
type fact struct{ Name, Text string }

// pageOf is the page of a document without pictures.
func pageOf(d document) page {
	p := page{Title: d.title, Head: d.head, Warnings: d.warnings, Words: d.words, Notes: d.notes(), Legend: d.legend}
	if len(d.sections) == 0 {
		p.Empty = d.empty
	}
	for _, s := range d.sections {
		ps := pageSection{Title: s.title}
		for _, g := range s.grids {
			ps.Tables = append(ps.Tables, g.page())
		}
		p.Sections = append(p.Sections, ps)
	}
	return p
}

func newPage(t Tables) page {
	p := pageOf(layout(t, documentForm))
	p.Environment, p.Settings, p.Options = environmentPairs(t), settingPairs(t), optionsOf(t)
	p.Command, p.Reproduce = reproduction(t)
	var groups [][]Row // those that layout made its sections of
	for _, ranked := range []bool{true, false} {
		groups = append(groups, sectionsOf(t.Rows, ranked)...)
	}
	for i := range min(len(groups), len(p.Sections)) {
		painter := newPainter(t, groups[i])
		p.Sections[i].Charts, p.Sections[i].Single = painter.pictures(), len(painter.levels) < 2
	}
	return p
}

// noted splits a row's name from the numbers of its notes.
var noted = regexp.MustCompile(`^(.*) \[([0-9]+(?:,[0-9]+)*)\]$`)

func (g grid) page() pageTable {
	t := pageTable{Caption: g.title, Head: g.head}
	for _, cells := range g.rows {
		r := pageRow{Name: cells[0]}
		if m := noted.FindStringSubmatch(cells[0]); m != nil {
			r.Name, r.Notes = m[1], strings.Split(m[2], ",")
		}
		for _, c := range cells[1:] {
			r.Cells = append(r.Cells, pageCell{c, strings.HasPrefix(c, markBest)})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// reproduction is the command that does it again, and what else must be the same.
func reproduction(t Tables) (command string, needs []string) {
	if len(t.Command) == 0 {
		command = ""
	} else {
		words := slices.Clone(t.Command)
		if t.Seed != 0 && !slices.ContainsFunc(words, func(w string) bool { return w == "--seed" || strings.HasPrefix(w, "--seed=") }) {
			words = append(words, "--seed", t.SeedText)
		}
		for i, w := range words {
			words[i] = shellWord(w)
		}
		command = clean(strings.Join(words, " "))
	}
	need := func(what, value string) {
		if value == "" {
			value = "unknown"
		}
		needs = append(needs, what+" "+clean(value))
	}
	need("bakeoff", t.Version)
	need("revision", t.Environment.Git)
	if folder := t.Environment.GitWorkingDirectory; folder != "" {
		need("revision of the working directory", folder)
	}
	need("Go", t.Environment.Go)
	need("seed", t.SeedText)
	if len(t.Files) > 0 {
		var from []string
		for _, f := range t.Files {
			from = append(from, cmp.Or(t.linkTo(f), f))
		}
		needs = append(needs, "the figures are in "+clean(strings.Join(from, ", "))+": 'bakeoff report' makes this page of it again")
	}
	return command, needs
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellWord quotes a word for a shell where it needs it.
func shellWord(w string) string {
	if plainWord.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// environmentPairs say where the run was; what is not known is said to be unknown.
func environmentPairs(t Tables) []fact {
	e := t.Environment
	number := func(n int) string {
		if n <= 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	memory := ""
	if e.MemBytes > 0 {
		memory = fmt.Sprintf("%.1f GiB", float64(e.MemBytes)/(1<<30))
	}
	quota := "none is known"
	if e.CPUQuota > 0 {
		quota = fmt.Sprintf("%g CPUs", e.CPUQuota)
	}
	pairs := []fact{
		{"CPU", e.CPUModel}, {"CPUs", number(e.CPUs)}, {"CPU quota", quota}, {"memory", memory}, {"kernel", strings.TrimSpace(e.OS + " " + e.Kernel)}, {"architecture", e.Arch},
		{"Go", e.Go}, {"GOMAXPROCS", number(e.GOMAXPROCS)}, {"container", e.Container}, {"revision", e.Git}, {"bakeoff", t.Version},
	}
	if e.GitWorkingDirectory != "" {
		pairs = append(pairs, fact{"revision of the working directory", e.GitWorkingDirectory})
	}
	pairs = append(pairs, sortedPairs("", e.GoEnv)...)
	pairs = append(pairs, sortedPairs("module ", e.Modules)...)
	for i := range pairs {
		if pairs[i].Text == "" {
			pairs[i].Text = "unknown"
			if pairs[i].Name == "container" {
				pairs[i].Text = "none is known"
			}
		}
		pairs[i].Name, pairs[i].Text = clean(pairs[i].Name), clean(pairs[i].Text)
	}
	return pairs
}
