package run

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"bakeoff/harness/meter"
	"bakeoff/harness/result"
)

// Assign gives each role its CPUs. They are disjoint where there are as many CPUs as roles; where there are fewer,
// the first role still has one alone if there are two, and the others share (shared is true). With CPUs to spare, a
// third role and those after it get a quarter each, and the first two halve the rest, the odd one to the second:
// the driver must not be the limit, and costs about what the server does. Neighbours in cpus stay together, so a
// list in which the threads of one core are neighbours keeps two roles off one core as far as that goes. It is pure.
func Assign(cpus []int, roles []string) (sets map[string][]int, shared bool) {
	sets = make(map[string][]int, len(roles))
	if len(cpus) == 0 || len(roles) == 0 {
		return sets, false
	}
	if len(cpus) < len(roles) {
		for i, role := range roles {
			sets[role] = []int{cpus[min(i, len(cpus)-1)]}
		}
		return sets, true
	}
	sizes := make([]int, len(roles))
	rest := len(cpus)
	for i := len(roles) - 1; i >= 2; i-- {
		sizes[i] = max(1, min(len(cpus)/4, rest-i)) // each role before it needs at least one
		rest -= sizes[i]
	}
	if len(roles) > 1 {
		sizes[1] = (rest + 1) / 2
		rest -= sizes[1]
	}
	sizes[0] = rest
	for i, role := range roles {
		sets[role] = slices.Sorted(slices.Values(cpus[:sizes[i]]))
		cpus = cpus[sizes[i]:]
	}
	return sets, false
}

// CPUs lists the CPUs that this process may run on, the threads of one core side by side. A CPU quota cuts the list to as
// many as the quota pays for, rounded up: more would only be throttled.
func CPUs() ([]int, error) {
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
	return affordable(cpus, meter.Quota(), coreOf), nil
}

// affordable sorts CPUs by their core and keeps as many as the quota pays for, of as many cores as that allows.
func affordable(cpus []int, quota *float64, of func(cpu int) core) []int {
	byCore(cpus, of)
	if quota == nil || int(math.Ceil(*quota)) >= len(cpus) {
		return cpus
	}
	// The first thread of each core, then the second of each...
	thread, seen := make(map[int]int), make(map[core]int)
	for _, cpu := range cpus {
		thread[cpu] = seen[of(cpu)]
		seen[of(cpu)]++
	}
	slices.SortStableFunc(cpus, func(a, b int) int { return cmp.Compare(thread[a], thread[b]) })
	cpus = cpus[:max(1, int(math.Ceil(*quota)))]
	byCore(cpus, of)
	return cpus
}

// core names a physical core; its threads have the same.
type core struct{ pkg, id int }

// byCore sorts CPUs by their core, and by their number where the core is not known.
func byCore(cpus []int, of func(cpu int) core) {
	slices.SortFunc(cpus, func(a, b int) int {
		x, y := of(a), of(b)
		return cmp.Or(cmp.Compare(x.pkg, y.pkg), cmp.Compare(x.id, y.id), cmp.Compare(a, b))
	})
}

func coreOf(cpu int) core {
	read := func(name string) int {
		text, err := os.ReadFile(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name))
		if err != nil {
			return -1
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return -1
		}
		return n
	}
	c := core{read("physical_package_id"), read("core_id")}
	if c.id < 0 {
		c.id = cpu // unknown: a core of its own
	}
	return c
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
	if r.Store != nil {
		roles = append(roles, Store)
	}
	if r.Unpinned {
		r.unpinned(roles, "as asked")
		return nil
	}
	cpus, given := r.Config.CPUs, r.Config.CPUs != nil
	if !given {
		var err error
		if cpus, err = CPUs(); err != nil {
			r.unpinned(roles, err.Error())
			return nil
		}
	}
	sets, shared := Assign(cpus, roles)
	for _, role := range roles {
		if err := r.starter.try(sets[role]); err != nil {
			if given {
				return fmt.Errorf("the CPUs for the %s: %w", role, err)
			}
			r.unpinned(roles, err.Error())
			return nil
		}
	}
	r.cpus = sets
	if shared {
		r.shared = []result.Warning{sharedWarning(sets, roles)}
	}
	return nil
}

// unpinned makes the warning of a run in which every process may be anywhere.
func (r *runner) unpinned(roles []string, why string) {
	r.shared = []result.Warning{{Kind: "shared_cpu",
		Text: fmt.Sprintf("%s are not pinned (%s): they share all CPUs", strings.Join(roles, ", "), why)}}
}

// sharedWarning names each pair of roles on common CPUs.
func sharedWarning(sets map[string][]int, roles []string) result.Warning {
	var pairs []string
	for i, a := range roles {
		for _, b := range roles[i+1:] {
			both := slices.DeleteFunc(slices.Clone(sets[a]), func(cpu int) bool { return !slices.Contains(sets[b], cpu) })
			if len(both) > 0 {
				pairs = append(pairs, fmt.Sprintf("%s and %s share CPU %s", a, b, FormatCPUs(both)))
			}
		}
	}
	return result.Warning{Kind: "shared_cpu", Text: strings.Join(pairs, ", ") + ": each slows the other down"}
}
