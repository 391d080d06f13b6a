package result

// Standing are the trials without those that failed and were done again, as a run that is resumed may do; again is how many those are. A
// trial of several in one place of the plan stands if it did not fail, or if none after it was done.
func Standing(trials []Trial) (standing []Trial, again int) {
	last := map[int]int{}
	for i, t := range trials {
		if j, ok := last[t.Order]; !ok || t.Error == "" || trials[j].Error != "" {
			last[t.Order] = i
		}
	}
	for i, t := range trials {
		if t.Order < 1 || t.Error == "" || last[t.Order] == i { // 0 is a place that nobody knows
			standing = append(standing, t)
		} else {
			again++
		}
	}
	return standing, again
}
