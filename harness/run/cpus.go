package run

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"bakeoff/harness/meter"
	"bakeoff/harness/result"
)

// Assign gives each role its CPUs. It is pure, and knows the machine by the layout alone.
//
// Roles get whole cores, and none two roles, where there are as many cores as roles: two threads of one core share its units, so
// that a busy driver would slow the server down. With cores to spare, a third role and those after it get a quarter
// each, and the first two halve the rest, the odd one to the second: the driver must not be the limit, and costs about
// what the server does. Where cores are too few but their threads are not, the first role still has a core to itself if that leaves
// enough; where even CPUs are too few it has one alone if there are two, and the others share (shared is true).
//
// All roles stay on one NUMA node if one has two cores a role, though that leaves the others idle: memory that is written on one
// node and read on another makes each call dearer by what the machine is, and noisier, and none of it is the protocol's. On smaller
// nodes the roles are laid out node by node, so that as few of them as possible lie across two. Doubts says what of this was not to be had.
func Assign(l Layout, roles []string) (sets map[string][]int, shared bool) {
	sets = make(map[string][]int, len(roles))
	if len(l) == 0 || len(roles) == 0 {
		return sets, false
	}
	cores := l.nearest(2 * len(roles)).cores()
	if len(cores) >= len(roles) {
		for i, n := range portions(len(cores), len(roles)) {
			sets[roles[i]] = sorted(slices.Concat(cores[:n]...))
			cores = cores[n:]
		}
		return sets, false
	}
	cpus := slices.Concat(cores...)
	if len(cpus) < len(roles) {
		for i, role := range roles {
			sets[role] = []int{cpus[min(i, len(cpus)-1)]}
		}
		return sets, true
	}
	if first := len(cores[0]); len(cores) > 1 && len(cpus)-first >= len(roles)-1 {
		sets[roles[0]] = sorted(cores[0])
		cpus, roles = cpus[first:], roles[1:]
	}
	for i, n := range portions(len(cpus), len(roles)) {
		sets[roles[i]] = sorted(cpus[:n])
		cpus = cpus[n:]
	}
	return sets, false
}

// portions divides n among as many roles or fewer: see Assign.
func portions(n, roles int) []int {
	sizes := make([]int, roles)
	rest := n
	for i := roles - 1; i >= 2; i-- {
		sizes[i] = max(1, min(n/4, rest-i)) // each role before it needs at least one
		rest -= sizes[i]
	}
	if roles > 1 {
		sizes[1] = (rest + 1) / 2
		rest -= sizes[1]
	}
	sizes[0] = rest
	return sizes
}

func sorted(cpus []int) []int { return slices.Sorted(slices.Values(cpus)) }

// CPUs lists the CPUs that this process may run on. A CPU quota cuts the list to as many as the quota pays for, rounded up:
// more would only be throttled.
func CPUs() (Layout, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("which CPUs this process may use: %w", err)
	}
	var cpus []int
	for n := 0; len(cpus) < set.Count(); n++ {
		if set.IsSet(n) {
			cpus = append(cpus, n)
		}
	}
	return ReadLayout("/", cpus).affordable(meter.Quota()), nil
}

// FormatCPUs writes a list as the kernel and taskset do: "0-3,8". The list must be sorted.
func FormatCPUs(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}

// assign plans the CPUs of the whole run, and proves that a process can be pinned to them.
func (r *runner) assign() error {
	roles := []string{Server, Driver}
	if r.Target != nil {
		roles = []string{Driver}
	}
	if r.Store != nil {
		roles = append(roles, Store)
	}
	if r.Backend != nil {
		roles = append(roles, Backend)
	}
	if r.Unpinned {
		r.unpinned(roles, "as asked")
		return nil
	}
	given := r.Config.CPUs != nil
	layout := ReadLayout("/", r.Config.CPUs)
	if !given {
		var err error
		if layout, err = CPUs(); err != nil {
			r.unpinned(roles, err.Error())
			return nil
		}
	}
	sets, _ := Assign(layout, roles)
	for _, role := range roles {
		if err := r.starter.try(sets[role]); err != nil {
			if given {
				return fmt.Errorf("the CPUs for the %s: %w", role, err)
			}
			r.unpinned(roles, err.Error())
			return nil
		}
	}
	r.cpus, r.shared = sets, layout.Doubts(sets, roles)
	return nil
}

// unpinned makes the warning of a run in which every process may be anywhere.
func (r *runner) unpinned(roles []string, why string) {
	r.shared = []result.Warning{{Kind: "shared_cpu",
		Text: fmt.Sprintf("%s are not pinned (%s): they share all CPUs", strings.Join(roles, ", "), why)}}
}
