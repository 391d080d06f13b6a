package run

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bakeoff/harness/result"
)

// CPU is one CPU as the kernel counts them (a thread, where cores have several) and where it sits.
type CPU struct {
	ID int
	// Core is the same for the threads of one core, and for no others: the lowest number among them.
	Core int
	// Node is the NUMA node; 0 where that is not known.
	Node int
}

// Layout is the CPUs that may be used, in any order.
type Layout []CPU

// ReadLayout finds out where CPUs sit from the /sys of the file system at root. What it does not say (in many containers and on some
// machines) is taken for the plainest: each CPU a core of its own, all on one node.
func ReadLayout(root string, cpus []int) Layout {
	system := filepath.Join(root, "sys/devices/system")
	list := func(path string) []int {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		cpus, err := ParseCPUs(string(text))
		if err != nil {
			return nil
		}
		return cpus
	}
	node := map[int]int{}
	nodes, _ := filepath.Glob(filepath.Join(system, "node/node[0-9]*")) // the pattern is right
	for _, dir := range nodes {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), "node"))
		if err != nil {
			continue
		}
		for _, cpu := range list(filepath.Join(dir, "cpulist")) {
			node[cpu] = n
		}
	}
	l := make(Layout, 0, len(cpus))
	for _, id := range cpus {
		// core_id would do on most machines; on some it is not unique, or the same for all.
		siblings := list(filepath.Join(system, fmt.Sprintf("cpu/cpu%d/topology/thread_siblings_list", id)))
		l = append(l, CPU{ID: id, Core: slices.Min(append(siblings, id)), Node: node[id]})
	}
	return l
}

// ParseCPUs reads a list as FormatCPUs and the kernel write it: "0-3,8". Blanks around it are fine, and it may be empty.
func ParseCPUs(text string) ([]int, error) {
	const most = 1 << 16 // CPUs; the kernel's own limit is 8192
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	var cpus []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err := strconv.ParseUint(low, 10, 16)
		to, err2 := strconv.ParseUint(high, 10, 16)
		if err != nil || err2 != nil || from > to || len(cpus)+int(to-from) >= most {
			return nil, fmt.Errorf("CPU list %q: %q is neither a CPU nor a range: want for example 0-3,8", text, part)
		}
		for n := from; n <= to; n++ {
			cpus = append(cpus, int(n))
		}
	}
	return cpus, nil
}

// sorted is by node, then by core, then by number.
func (l Layout) sorted() Layout {
	l = slices.Clone(l)
	slices.SortFunc(l, func(a, b CPU) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Core, b.Core), cmp.Compare(a.ID, b.ID))
	})
	return l
}

// cores are the CPUs by core, node by node.
func (l Layout) cores() [][]int {
	var cores [][]int
	last := -1
	for _, cpu := range l.sorted() {
		if len(cores) == 0 || cpu.Core != last {
			cores = append(cores, nil)
		}
		cores[len(cores)-1] = append(cores[len(cores)-1], cpu.ID)
		last = cpu.Core
	}
	return cores
}

// nearest is the node with the most cores, if it has at least so many; else the whole layout.
func (l Layout) nearest(cores int) Layout {
	best, most := l, cores-1
	for n, node := range l.nodes() {
		if have := len(node.cores()); have > most || have == most && most >= cores && n < best[0].Node {
			best, most = node, have
		}
	}
	return best
}

func (l Layout) nodes() map[int]Layout {
	nodes := map[int]Layout{}
	for _, cpu := range l {
		nodes[cpu.Node] = append(nodes[cpu.Node], cpu)
	}
	return nodes
}

// affordable keeps as many CPUs as the quota pays for (nil: all), of as many cores as that allows, and of as few nodes as those allow.
func (l Layout) affordable(quota *float64) Layout {
	l = l.sorted()
	if quota == nil || int(math.Ceil(*quota)) >= len(l) {
		return l
	}
	// The first thread of each core, then the second of each...
	thread, seen := map[int]int{}, map[int]int{}
	for _, cpu := range l {
		thread[cpu.ID] = seen[cpu.Core]
		seen[cpu.Core]++
	}
	slices.SortStableFunc(l, func(a, b CPU) int { return cmp.Compare(thread[a.ID], thread[b.ID]) })
	return l[:max(1, int(math.Ceil(*quota)))].sorted()
}

// Doubts are what roles on these CPUs have in common that they should not: a CPU, a core; and that they are not all on one node. The
// CPUs of each role are sorted.
func (l Layout) Doubts(sets map[string][]int, roles []string) []result.Warning {
	where := map[int]CPU{}
	for _, cpu := range l {
		where[cpu.ID] = cpu
	}
	var cpus, cores []string
	for i, a := range roles {
		for _, b := range roles[i+1:] {
			var both, threads []int
			for _, x := range sets[a] {
				for _, y := range sets[b] {
					switch {
					case x == y:
						both = append(both, x)
					case where[x].Core == where[y].Core:
						threads = append(threads, x, y)
					}
				}
			}
			if len(both) > 0 {
				cpus = append(cpus, fmt.Sprintf("%s and %s share CPU %s", a, b, FormatCPUs(both)))
			}
			if len(threads) > 0 {
				cores = append(cores, fmt.Sprintf("%s and %s are threads of one core (CPU %s)", a, b, FormatCPUs(slices.Compact(sorted(threads)))))
			}
		}
	}
	var all []result.Warning
	if len(cpus) > 0 {
		all = append(all, result.Warning{Kind: "shared_cpu", Text: strings.Join(cpus, ", ") + ": each slows the other down"})
	}
	if len(cores) > 0 {
		all = append(all, result.Warning{Kind: "shared_core", Text: strings.Join(cores, ", ") + ": each slows the other down"})
	}
	if text := across(where, sets, roles); text != "" {
		all = append(all, result.Warning{Kind: "numa", Text: text})
	}
	return all
}

// across says which roles are on which nodes, "" where all are on one.
func across(where map[int]CPU, sets map[string][]int, roles []string) string {
	var parts []string
	all := map[int]bool{}
	for _, role := range roles {
		var nodes []int
		for _, cpu := range sets[role] {
			nodes = append(nodes, where[cpu].Node)
			all[where[cpu].Node] = true
		}
		parts = append(parts, fmt.Sprintf("%s on node %s", role, FormatCPUs(slices.Compact(sorted(nodes)))))
	}
	if len(all) < 2 {
		return ""
	}
	return strings.Join(parts, ", ") + ": no NUMA node has the two cores a role that all of them need, so calls cross between nodes"
}
