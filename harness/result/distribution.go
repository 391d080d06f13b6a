package result

// CountAtMost counts, for each of some times in nanoseconds that grow, the calls that took longer than the one before it and at most as long as it. A call
// is as long as the shortest time of its bucket in the histogram; those above the last time are counted with it.
func (m Merged) CountAtMost(marks []int64) []int64 {
	counts := make([]int64, len(marks))
	if m.Count == 0 || len(marks) == 0 {
		return counts
	}
	at := 0
	for _, b := range m.hist.Distribution() {
		for at < len(marks)-1 && b.From > marks[at] {
			at++
		}
		counts[at] += b.Count
	}
	return counts
}
