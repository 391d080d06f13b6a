package report

// Within says how narrow the intervals of one figure are by now: half the width of the widest, as a share. It is that of the ratios, of
// every ranked row to the baseline, because differences are what a run is for; with nothing to compare it is that of the
// medians. ok is false while some interval is not to be had, or nothing is known of the figure.
func (t Tables) Within(metric string) (widest float64, ok bool) {
	compared := false
	for _, c := range t.Comparisons {
		if c.Metric != metric || c.Step != "" {
			continue
		}
		if c.TooFew {
			return 0, false
		}
		widest, compared = max(widest, c.HalfWidth), true
	}
	if compared {
		return widest, true
	}
	for _, r := range t.Rows {
		v, known := r.Metrics[metric]
		if !r.Ranked || r.Step != "" || !known {
			continue
		}
		if v.TooFew || v.Median <= 0 {
			return 0, false
		}
		widest, ok = max(widest, v.HalfWidth), true
	}
	return widest, ok
}
