package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plain is a machine of one node without threads.
func plain(cpus ...int) Layout {
	var l Layout
	for _, id := range cpus {
		l = append(l, CPU{ID: id, Core: id})
	}
	return l
}

// machine numbers CPUs as Linux does: the first threads of all cores, node by node, then the second ones.
func machine(nodes, coresEach, threads int) Layout {
	var l Layout
	cores := nodes * coresEach
	for id := range cores * threads {
		l = append(l, CPU{ID: id, Core: id % cores, Node: id % cores / coresEach})
	}
	return l
}

func TestAssign(t *testing.T) {
	two, three := []string{Server, Driver}, []string{Server, Driver, Store}
	for _, row := range []struct {
		name   string
		on     Layout
		roles  []string
		want   map[string]string
		doubts string // kinds
	}{
		{"1 CPU", machine(1, 1, 1), two, map[string]string{Server: "0", Driver: "0"}, "shared_cpu"},
		{"1 CPU and a store", machine(1, 1, 1), three, map[string]string{Server: "0", Driver: "0", Store: "0"}, "shared_cpu"},
		{"2 CPUs", machine(1, 2, 1), two, map[string]string{Server: "0", Driver: "1"}, ""},
		{"2 CPUs and a store: the server stays alone", machine(1, 2, 1), three, map[string]string{Server: "0", Driver: "1", Store: "1"}, "shared_cpu"},
		{"3 CPUs: the driver gets the odd one", machine(1, 3, 1), two, map[string]string{Server: "0", Driver: "1-2"}, ""},
		{"3 CPUs and a store", machine(1, 3, 1), three, map[string]string{Server: "0", Driver: "1", Store: "2"}, ""},
		{"4 CPUs", machine(1, 4, 1), two, map[string]string{Server: "0-1", Driver: "2-3"}, ""},
		{"4 CPUs and a store", machine(1, 4, 1), three, map[string]string{Server: "0", Driver: "1-2", Store: "3"}, ""}, // 4/4 = 1, (3+1)/2 = 2
		{"8 CPUs", machine(1, 8, 1), two, map[string]string{Server: "0-3", Driver: "4-7"}, ""},
		{"8 CPUs and a store", machine(1, 8, 1), three, map[string]string{Server: "0-2", Driver: "3-5", Store: "6-7"}, ""}, // 8/4 = 2, (6+1)/2 = 3
		{"20 CPUs", machine(1, 20, 1), two, map[string]string{Server: "0-9", Driver: "10-19"}, ""},
		{"20 CPUs and a store", machine(1, 20, 1), three, map[string]string{Server: "0-6", Driver: "7-14", Store: "15-19"}, ""}, // 20/4 = 5, (15+1)/2 = 8
		{"gaps", plain(3, 5, 8, 9), two, map[string]string{Server: "3,5", Driver: "8-9"}, ""},
		{"one role has all", machine(1, 4, 1), []string{Server}, map[string]string{Server: "0-3"}, ""},
		{"no CPUs", nil, two, map[string]string{}, ""},

		{"2 threads of 1 core", machine(1, 1, 2), two, map[string]string{Server: "0", Driver: "1"}, "shared_core"},
		{"4 threads of 2 cores", machine(1, 2, 2), two, map[string]string{Server: "0,2", Driver: "1,3"}, ""},
		{"4 threads of 2 cores and a store: the server's core is its own", machine(1, 2, 2), three,
			map[string]string{Server: "0,2", Driver: "1", Store: "3"}, "shared_core"},
		{"8 threads of 4 cores and a store", machine(1, 4, 2), three, map[string]string{Server: "0,4", Driver: "1-2,5-6", Store: "3,7"}, ""},
		{"20 threads of 10 cores", machine(1, 10, 2), two, map[string]string{Server: "0-4,10-14", Driver: "5-9,15-19"}, ""},
		{"8 threads of 1 core", machine(1, 1, 8), three, map[string]string{Server: "0-2", Driver: "3-5", Store: "6-7"}, "shared_core"},
		{"3 CPUs of 2 cores: one thread is not ours", Layout{{0, 0, 0}, {1, 1, 0}, {2, 0, 0}}, three, map[string]string{Server: "0", Driver: "2", Store: "1"}, "shared_core"},

		{"2 nodes of 10 cores: all on the first", machine(2, 10, 1), two, map[string]string{Server: "0-4", Driver: "5-9"}, ""},
		{"2 nodes of 10 cores of 2 threads and a store", machine(2, 10, 2), three, // 10/4 = 2, (8+1)/2 = 4
			map[string]string{Server: "0-3,20-23", Driver: "4-7,24-27", Store: "8-9,28-29"}, ""},
		{"the larger of two nodes", append(plain(0, 1, 2, 3), Layout{{4, 4, 1}, {5, 5, 1}, {6, 6, 1}, {7, 7, 1}, {8, 8, 1}}...), two,
			map[string]string{Server: "4-5", Driver: "6-8"}, ""},
		{"2 nodes of 2 cores: a node each", machine(2, 2, 1), two, map[string]string{Server: "0-1", Driver: "2-3"}, "numa"},
		{"2 nodes of 2 cores of 2 threads: a node each", machine(2, 2, 2), two, map[string]string{Server: "0-1,4-5", Driver: "2-3,6-7"}, "numa"},
		{"4 nodes of 1 core and a store", machine(4, 1, 1), three, map[string]string{Server: "0", Driver: "1-2", Store: "3"}, "numa"},
	} {
		sets, _ := Assign(row.on, row.roles)
		got := map[string]string{}
		for role, cpus := range sets {
			got[role] = FormatCPUs(cpus)
		}
		var kinds []string
		for _, w := range row.on.Doubts(sets, row.roles) {
			kinds = append(kinds, w.Kind)
		}
		if d := cmp.Diff(row.want, got); d != "" || strings.Join(kinds, " ") != row.doubts {
			t.Errorf("%s: doubts %q, want %q; %s", row.name, kinds, row.doubts, d)
		}
	}
}

// For any machine: nobody without a CPU, nothing outside the layout, and unless it says so nothing twice and nothing left on its node;
// no two roles on a core where there are as many cores as roles.
func TestAssignAlways(t *testing.T) {
	for _, nodes := range []int{1, 2, 3} {
		for _, threads := range []int{1, 2, 4} {
			for cores := 1; cores <= 40; cores++ {
				for _, roles := range [][]string{{Server}, {Server, Driver}, {Server, Driver, Store}, {Server, Driver, Store, "4", "5", "6"}} {
					l := machine(nodes, cores, threads)
					sets, shared := Assign(l, roles)
					var all []int
					core := map[int]string{}
					mixed := false
					for _, role := range roles {
						if len(sets[role]) == 0 {
							t.Errorf("%d x %d x %d: %s of %v has no CPU", nodes, cores, threads, role, roles)
						}
						for _, cpu := range sets[role] {
							if cpu < 0 || cpu >= len(l) {
								t.Fatalf("%d x %d x %d: CPU %d", nodes, cores, threads, cpu)
							}
							mixed = mixed || core[l[cpu].Core] != "" && core[l[cpu].Core] != role
							core[l[cpu].Core] = role
						}
						all = append(all, sets[role]...)
					}
					slices.Sort(all)
					want := len(l)
					if cores >= 2*len(roles) {
						want = cores * threads // of one node
					}
					if shared != (len(l) < len(roles)) {
						t.Errorf("%d x %d x %d for %v: shared %t", nodes, cores, threads, roles, shared)
					}
					if !shared && (len(slices.Compact(slices.Clone(all))) != len(all) || len(all) != want) {
						t.Errorf("%d x %d x %d for %v: given out %v", nodes, cores, threads, roles, all)
					}
					if mixed && nodes*cores >= len(roles) {
						t.Errorf("%d x %d x %d for %v: roles share a core: %v", nodes, cores, threads, roles, sets)
					}
				}
			}
		}
	}
}

func TestDoubts(t *testing.T) {
	three := []string{Server, Driver, Store}
	for _, row := range []struct {
		on    Layout
		roles []string
		want  []string
	}{
		{machine(1, 1, 1), three, []string{"server and driver share CPU 0, server and store share CPU 0, driver and store share CPU 0: each slows the other down"}},
		{machine(1, 2, 1), three, []string{"driver and store share CPU 1: each slows the other down"}},
		{machine(1, 2, 2), three, []string{"driver and store are threads of one core (CPU 1,3): each slows the other down"}},
		{machine(2, 2, 1), three[:2], []string{"server on node 0, driver on node 1: no NUMA node has the two cores a role that all of them need, so calls cross between nodes"}},
		{machine(4, 1, 1), three, []string{"server on node 0, driver on node 1-2, store on node 3: no NUMA node has the two cores a role that all of them need, so calls cross between nodes"}},
	} {
		sets, _ := Assign(row.on, row.roles)
		var got []string
		for _, w := range row.on.Doubts(sets, row.roles) {
			got = append(got, w.Text)
		}
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("%v: %s", row.on, d)
		}
	}
}

func TestFormatCPUs(t *testing.T) {
	for _, row := range []struct {
		cpus []int
		want string
	}{
		{nil, ""}, {[]int{0}, "0"}, {[]int{0, 1}, "0-1"}, {[]int{0, 1, 2, 3, 8}, "0-3,8"}, {[]int{1, 3, 5}, "1,3,5"}, {[]int{7, 9, 10}, "7,9-10"},
	} {
		if got := FormatCPUs(row.cpus); got != row.want {
			t.Errorf("%v: %q, want %q", row.cpus, got, row.want)
		}
	}
}

func TestAffordable(t *testing.T) {
	for _, row := range []struct {
		name  string
		on    Layout
		quota *float64
		want  []int
	}{
		{"threads side by side", machine(1, 4, 2), nil, []int{0, 4, 1, 5, 2, 6, 3, 7}},
		{"nodes apart", Layout{{0, 0, 0}, {1, 1, 1}, {2, 2, 0}, {3, 3, 1}}, nil, []int{0, 2, 1, 3}},
		{"a quota of 2 is 2 cores", machine(1, 4, 2), new(2.0), []int{0, 1}},
		{"and of one node", machine(2, 4, 2), new(4.0), []int{0, 1, 2, 3}},
		{"1.5 is rounded up", machine(1, 4, 2), new(1.5), []int{0, 1}},
		{"6 is 4 cores and 2 second threads", machine(1, 4, 2), new(6.0), []int{0, 4, 1, 5, 2, 3}},
		{"more than there is", machine(1, 2, 1), new(16.0), []int{0, 1}},
		{"a tenth of a CPU is still one", machine(1, 4, 2), new(0.1), []int{0}},
	} {
		var got []int
		for _, cpu := range row.on.affordable(row.quota) {
			got = append(got, cpu.ID)
		}
		if d := cmp.Diff(row.want, got); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
}

func TestCPUsOfThisMachine(t *testing.T) {
	l, err := CPUs()
	if err != nil || len(l) == 0 {
		t.Fatalf("%v, %v", l, err)
	}
	seen := map[int]bool{}
	for _, cpu := range l {
		if seen[cpu.ID] || cpu.ID < 0 || cpu.Core < 0 || cpu.Core > cpu.ID {
			t.Errorf("CPU %+v of %v", cpu, l)
		}
		seen[cpu.ID] = true
	}
}
