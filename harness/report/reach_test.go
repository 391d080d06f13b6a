package report

import (
	"strings"
	"testing"

	"bakeoff/harness/result"
)

// TestRangesAreNoIntervals reads in all formats for people what the ends of figures are called: three rounds have no interval, six have one.
func TestRangesAreNoIntervals(t *testing.T) {
	of := func(subject string, n int) (all []result.Trial) {
		for i := range n {
			for _, concurrency := range []int{10, 20} {
				tr := small(subject, i+1, 100+float64(i), 1e-6*float64(i+1), 1e-6)
				tr.Concurrency = concurrency
				all = append(all, tr)
			}
		}
		return all
	}
	for _, row := range []struct {
		name                       string
		trials                     []result.Trial
		dots, bars, letters, ratio string
	}{
		{"three rounds", append(of("a", 3), of("b", 3)...), "the bar their whole range.", "the bars are their whole ranges.", "up to the lower end of the range,", "too few for intervals"},
		{"six rounds", append(of("a", 6), of("b", 6)...), "the bar its interval.", "the bars are their intervals.", "up to the lower end of the interval,", "with 95% intervals"},
		{"both", append(of("a", 6), of("b", 3)...), "the bar its interval, or their whole range where rounds are too few for one.", "the bars are their intervals, or whole ranges where rounds are too few for one.",
			"up to the lower end of the interval, or range where rounds are too few for one,", "too few for intervals"},
	} {
		tables := build(t, fileOf([]string{"a", "b"}, row.trials...), "")
		for _, c := range []struct {
			format Format
			want   []string
		}{
			{HTML, []string{row.dots, row.bars, row.ratio}}, {Text, []string{row.letters, row.ratio}}, {Wide, []string{row.letters, row.ratio}}, {Markdown, []string{row.ratio}}, {ADR, []string{row.ratio}},
		} {
			said := strings.Join(strings.Fields(render(t, c.format, tables)), " ")
			for _, w := range c.want {
				if !strings.Contains(said, w) {
					t.Errorf("%s: %s has no %q", row.name, c.format.Name, w)
				}
			}
		}
	}
	three, six := fileOf([]string{"a"}, of("a", 3)...), fileOf([]string{"a"}, of("a", 6)...)
	for _, f := range ChangeFormats {
		want := map[string]string{Text.Name: "(3%) is that of half the whole range", Wide.Name: "( ) is the whole range", Markdown.Name: "( ) is the whole range"}[f.Name]
		if want == "" {
			continue
		}
		for _, c := range []struct {
			newer result.File
			said  bool
		}{{three, true}, {six, false}} {
			var b strings.Builder
			if err := f.Write(&b, compare(t, six, c.newer, ChangeOptions{})); err != nil {
				t.Fatal(err)
			}
			if said := strings.Contains(strings.Join(strings.Fields(b.String()), " "), want); said != c.said {
				t.Errorf("compare, %s: %q is said: %t, want %t", f.Name, want, said, c.said)
			}
		}
	}
}
