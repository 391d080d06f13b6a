package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bakeoff/harness/result"
)

// findRateSection is the searches as a table; none without one.
func (d *document) findRateSection(t Tables) []section {
	if t.FindRate == nil {
		return nil
	}
	g := grid{title: "Found by search, calls a second; then how many of the rounds at a share of it held the objective",
		head: []string{"subject @ conc.", "held", "missed", "trials", "closed loop"}}
	var shares []string
	for _, f := range t.FindRate.Found {
		for _, l := range f.Levels {
			if !slices.Contains(shares, l.Share) {
				shares = append(shares, l.Share)
			}
		}
	}
	for _, s := range shares {
		g.head = append(g.head, clean(s))
	}
	for _, f := range t.FindRate.Found {
		var notes []int
		for _, flag := range f.Flags {
			notes = append(notes, d.note(flag.Kind, flag.Text, t.FindRate.name(f)))
		}
		closed := "-"
		if f.Closed > 0 {
			closed = digits(f.Closed)
		}
		line := []string{t.FindRate.name(f) + marks(notes), rateCell(f.Rate), rateCell(f.Missed), strconv.Itoa(f.Trials), closed}
		for _, s := range shares {
			cell := "-"
			for _, l := range f.Levels {
				if l.Share == s && l.Rounds > 0 {
					cell = fmt.Sprintf("%d/%d", l.Held, l.Rounds)
				}
			}
			line = append(line, cell)
		}
		g.rows, g.levels = append(g.rows, line), append(g.levels, f.Workload+" "+strconv.Itoa(f.Concurrency))
	}
	d.legend = append(d.legend, "Held is the highest rate that held the objective in two looks of at most three, missed the lowest that did not: the edge lies between them, if the machine stays as it is. "+
		"Calls that failed or were cut off count as ones that never came back; a trial that dropped calls or missed its rate has missed the objective.")
	return []section{{title: "highest rate that holds " + clean(t.FindRate.Objective), grids: []grid{g}}}
}

func rateCell(rate uint64) string {
	if rate == 0 {
		return "-"
	}
	return strconv.FormatUint(rate, 10)
}

// findRateWords says in sentences which rates were found, and how they compare with the baseline's at the same level.
func (t Tables) findRateWords() []string {
	if t.FindRate == nil {
		return nil
	}
	var rates, ratios []string
	for _, f := range t.FindRate.Found {
		if f.Rate == 0 || f.End == result.EndFailed {
			continue
		}
		rates = append(rates, t.FindRate.name(f)+": "+f.bracketWords())
		if base := t.baseSearch(f); base != nil {
			ratios = append(ratios, f.against(*base, t.FindRate.name(f)))
		}
	}
	var out []string
	if len(rates) > 0 {
		out = append(out, fmt.Sprintf("The highest rate that holds %s: %s.", t.FindRate.Objective, strings.Join(rates, ", ")))
	}
	if len(ratios) > 0 {
		out = append(out, fmt.Sprintf("By these brackets, which are of one search each and no 95%% intervals: %s.", strings.Join(ratios, ", ")))
	}
	return out
}

// bracketWords is what is known of the rate: without an upper end it is a lower bound, and who stopped a search knows less than its end would say.
func (f FoundRate) bracketWords() string {
	words := fmt.Sprintf("%d/s", f.Rate)
	var why []string
	if f.Missed > 0 {
		why = append(why, fmt.Sprintf("not %d", f.Missed))
	} else {
		words = "at least " + words
	}
	if f.End == "" {
		why = append(why, "the search was interrupted")
	}
	if len(why) == 0 {
		return words
	}
	return words + " (" + strings.Join(why, "; ") + ")"
}

// baseSearch is the baseline's search that one is compared with: of the same connections if there is one, else the only one.
func (t Tables) baseSearch(f FoundRate) *FoundRate {
	if f.Subject == t.Baseline || !f.bracketed() {
		return nil
	}
	var others []*FoundRate
	for i := range t.FindRate.Found {
		b := &t.FindRate.Found[i]
		if b.Subject != t.Baseline || b.Workload != f.Workload || b.Concurrency != f.Concurrency || !b.bracketed() {
			continue
		}
		if b.Conns == f.Conns {
			return b
		}
		others = append(others, b)
	}
	if len(others) == 1 {
		return others[0]
	}
	return nil
}

// bracketed says that both ends are known, and by a search that went to its end.
func (f FoundRate) bracketed() bool {
	return f.Rate > 0 && f.Missed > 0 && (f.End == result.EndFound || f.End == result.EndSpent)
}

// against compares two brackets; name is f's.
func (f FoundRate) against(base FoundRate, name string) string {
	low, high := float64(f.Rate)/float64(base.Missed), float64(f.Missed)/float64(base.Rate)
	if low <= 1 && high >= 1 {
		return fmt.Sprintf("%s and %s can't be told apart", name, base.Subject)
	}
	return fmt.Sprintf("%s has %s to %s times %s's", name, digits(low), digits(high), base.Subject)
}

// writeFoundRates writes the rates that were found as figures of their own: the rate that held, and as its interval the bracket.
func (t Tables) writeFoundRates(c csvWriter) {
	if t.FindRate == nil {
		return
	}
	for _, f := range t.FindRate.Found {
		var kinds []string
		for _, flag := range f.Flags {
			kinds = append(kinds, flag.Kind)
		}
		fields := map[string]string{"subject": f.Subject, "workload": f.Workload, "mode": result.ModeOpen, "store": f.Store, "concurrency": strconv.Itoa(f.Concurrency),
			"conns": strconv.Itoa(f.Conns), "metric": "found_rate", "unit": unitRate, "flags": strings.Join(kinds, " "), "arrivals": f.Arrivals}
		for name, rate := range map[string]uint64{"median": f.Rate, "low": f.Rate, "high": f.Missed} {
			if rate > 0 {
				fields[name] = strconv.FormatUint(rate, 10)
			}
		}
		line := make([]string, len(csvHead))
		for i, name := range csvHead {
			line[i] = fields[name]
		}
		c.Write(line)
	}
}
