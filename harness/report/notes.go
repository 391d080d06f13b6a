package report

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bakeoff/harness/result"
)

// folded are the kinds of doubts whose numbers are all counts and measures of their row: those whose texts differ in them alone are one note. In the
// texts of the others numbers may be names, such as those of CPUs and ports.
var folded = map[string]bool{
	FlagTooFewRounds: true, FlagTooFewSamples: true, FlagDropped: true, FlagClamped: true, FlagIncomplete: true, FlagFewerTurns: true, FlagDriverLimited: true,
	result.WarnRateMissed: true, result.WarnDrift: true, result.WarnThrottled: true, result.WarnPacketsDropped: true, result.WarnShortWindow: true, result.WarnLittle: true, result.WarnRedialled: true,
	"bytes_unknown": true, "stolen": true,
}

// note is a doubt or more of one kind, and the rows that have it.
type note struct {
	kind  string
	words []noteWord
	rows  []string // their names, in order
}

// noteWord is one of a note's text, or a number with what stands about it, of which the least and the most are kept.
type noteWord struct{ before, least, most, after string }

var numberWord = regexp.MustCompile(`^(\(?)([-+]?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?)([%),.;:]*)$`)

// newNote takes a text apart, as far as doubts of its kind are folded. A round's number is its name.
func newNote(kind, text string) note {
	n := note{kind: kind}
	if !folded[kind] {
		n.words = []noteWord{{before: text}}
		return n
	}
	last := ""
	for _, w := range strings.Split(text, " ") {
		if m := numberWord.FindStringSubmatch(w); m != nil && last != "round" {
			n.words = append(n.words, noteWord{m[1], m[2], m[2], m[3]})
		} else {
			n.words = append(n.words, noteWord{before: w})
		}
		last = w
	}
	return n
}

// like says that two notes are of one kind and differ in counts at most.
func (n note) like(o note) bool {
	return n.kind == o.kind && slices.EqualFunc(n.words, o.words, func(a, b noteWord) bool {
		return a.before == b.before && a.after == b.after && (a.least == "") == (b.least == "")
	})
}

// fold widens the counts by those of a note that is like this one.
func (n *note) fold(o note) {
	for i, w := range o.words {
		if w.least == "" {
			continue
		}
		if count(w.least) < count(n.words[i].least) {
			n.words[i].least = w.least
		}
		if count(w.most) > count(n.words[i].most) {
			n.words[i].most = w.most
		}
	}
}

// count is the number that a word has; it fits numberWord, and so it is one.
func count(word string) float64 {
	v, _ := strconv.ParseFloat(word, 64)
	return v
}

func (n note) text() string {
	var words []string
	for _, w := range n.words {
		s := w.before + w.least
		if w.most != w.least {
			s += " to " + w.most
		}
		words = append(words, s+w.after)
	}
	return strings.Join(words, " ")
}

// note gives the number of a doubt about a row: what is said of several rows is one note.
func (d *document) note(kind, text, row string) int {
	n := newNote(kind, clean(text))
	i := slices.IndexFunc(d.doubts, n.like)
	if i < 0 {
		i = len(d.doubts)
		d.doubts = append(d.doubts, n)
	}
	of := &d.doubts[i]
	of.fold(n)
	if row = strings.TrimSpace(row); row != "" && !slices.Contains(of.rows, row) {
		of.rows = append(of.rows, row)
	}
	return i + 1
}

// notes are the texts of the doubts; that of number i+1 is notes[i].
func (d document) notes() []string {
	var texts []string
	for _, n := range d.doubts {
		texts = append(texts, n.text())
	}
	return texts
}

func marks(notes []int) string {
	if len(notes) == 0 {
		return ""
	}
	slices.Sort(notes)
	var s []string
	for _, n := range slices.Compact(notes) {
		s = append(s, strconv.Itoa(n))
	}
	return " [" + strings.Join(s, ",") + "]"
}
