package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// CSV is for spreadsheets and data frames: one line for each row and metric, so that a new metric adds lines and not
// columns. A row without any figure has one line with an empty metric.
var CSV = Format{Name: "csv", Doc: "for spreadsheets: one line for each row and figure, base units", Write: writeCSV}

var csvHead = []string{
	"subject", "workload", "step", "mode", "store", "concurrency", "conns", "rounds", "missing_rounds", "ranked",
	"started", "ok", "failed", "cut_off", "dropped",
	"metric", "unit", "median", "low", "high", "known_rounds", "coverage",
	"baseline", "ratio", "ratio_low", "ratio_high", "p", "p_holm", "detected", "flags", "rate", "arrivals",
}

func writeCSV(w io.Writer, t Tables) error {
	c := newCSV(w)
	c.Write(csvHead) // errors stay with the writer until Flush
	for _, r := range t.Rows {
		left := []string{r.Subject, r.Workload, r.Step, r.Mode, r.Store, strconv.Itoa(r.Concurrency), strconv.Itoa(r.Conns),
			strconv.Itoa(r.Rounds), strconv.Itoa(r.Missing), strconv.FormatBool(r.Ranked)}
		if o := r.Outcomes; o != nil {
			for _, n := range []uint64{o.Started, o.OK, o.Failed, o.CutOff, o.Dropped} {
				left = append(left, strconv.FormatUint(n, 10))
			}
		} else {
			left = append(left, "", "", "", "", "")
		}
		flags := strings.Join(r.flagKinds(), " ")
		for _, m := range Metrics {
			v, ok := r.Metrics[m.Name]
			if !ok {
				continue
			}
			line := append(left[:len(left):len(left)], m.Name, v.Unit, exact(v.Median), exact(v.Low), exact(v.High), strconv.Itoa(v.Rounds), exact(v.Coverage))
			if c := t.Comparison(r, m.Name); c != nil {
				line = append(line, c.Baseline, exact(c.Ratio), exact(c.Low), exact(c.High), exact(c.P), exact(c.PHolm), strconv.FormatBool(c.Detected))
			} else {
				line = append(line, "", "", "", "", "", "", "")
			}
			c.Write(append(line, flags, r.Rate, r.Arrivals))
		}
		if len(r.Metrics) == 0 {
			line := append(left, make([]string, len(csvHead)-len(left))...)
			copy(line[len(line)-3:], []string{flags, r.Rate, r.Arrivals})
			c.Write(line)
		}
	}
	t.writeFoundRates(c)
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

// csvWriter cleans what it writes: names may come from anywhere, and a terminal is where a file may be looked at.
type csvWriter struct{ *csv.Writer }

func newCSV(w io.Writer) csvWriter { return csvWriter{csv.NewWriter(w)} }

// Write writes a record. Its error stays with the writer.
func (w csvWriter) Write(record []string) {
	cleaned := make([]string, len(record))
	for i, cell := range record {
		cleaned[i] = clean(cell)
	}
	_ = w.Writer.Write(cleaned)
}

// exact is the shortest decimal that reads back as v.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
