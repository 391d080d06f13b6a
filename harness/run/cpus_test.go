package run

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestAssign(t *testing.T) {
	two, three := []string{Server, Driver}, []string{Server, Driver, Store}
	for _, row := range []struct {
		name   string
		cpus   []int
		roles  []string
		want   map[string]string
		shared bool
	}{
		{"1 CPU", upTo(1), two, map[string]string{Server: "0", Driver: "0"}, true},
		{"1 CPU and a store", upTo(1), three, map[string]string{Server: "0", Driver: "0", Store: "0"}, true},
		{"2 CPUs", upTo(2), two, map[string]string{Server: "0", Driver: "1"}, false},
		{"2 CPUs and a store: the server stays alone", upTo(2), three, map[string]string{Server: "0", Driver: "1", Store: "1"}, true},
		{"3 CPUs: the driver gets the odd one", upTo(3), two, map[string]string{Server: "0", Driver: "1-2"}, false},
		{"3 CPUs and a store", upTo(3), three, map[string]string{Server: "0", Driver: "1", Store: "2"}, false},
		{"4 CPUs", upTo(4), two, map[string]string{Server: "0-1", Driver: "2-3"}, false},
		{"4 CPUs and a store", upTo(4), three, map[string]string{Server: "0", Driver: "1-2", Store: "3"}, false}, // 4/4 = 1, (3+1)/2 = 2
		{"20 CPUs", upTo(20), two, map[string]string{Server: "0-9", Driver: "10-19"}, false},
		{"20 CPUs and a store", upTo(20), three, map[string]string{Server: "0-6", Driver: "7-14", Store: "15-19"}, false}, // 20/4 = 5, (15+1)/2 = 8
		{"gaps", []int{3, 5, 8, 9}, two, map[string]string{Server: "3,5", Driver: "8-9"}, false},
		{"threads side by side: 2 cores", []int{0, 2, 1, 3}, two, map[string]string{Server: "0,2", Driver: "1,3"}, false},
		{"one role has all", upTo(4), []string{Server}, map[string]string{Server: "0-3"}, false},
		{"no CPUs", nil, two, map[string]string{}, false},
	} {
		sets, shared := Assign(row.cpus, row.roles)
		got := map[string]string{}
		for role, cpus := range sets {
			got[role] = FormatCPUs(cpus)
		}
		if d := cmp.Diff(row.want, got); d != "" || shared != row.shared {
			t.Errorf("%s: shared %t, want %t; %s", row.name, shared, row.shared, d)
		}
	}
}

// For any number of CPUs: nobody without one, nothing outside the list, and unless it says so nothing twice and nothing left.
func TestAssignAlways(t *testing.T) {
	for n := 1; n <= 130; n++ {
		for _, roles := range [][]string{{Server}, {Server, Driver}, {Server, Driver, Store}, {Server, Driver, Store, "4", "5", "6"}} {
			cpus := upTo(n)
			sets, shared := Assign(cpus, roles)
			var all []int
			for _, role := range roles {
				if len(sets[role]) == 0 {
					t.Errorf("%d CPUs: %s of %v has none", n, role, roles)
				}
				all = append(all, sets[role]...)
			}
			slices.Sort(all)
			if shared != (n < len(roles)) {
				t.Errorf("%d CPUs for %v: shared %t", n, roles, shared)
			}
			if !shared && !slices.Equal(all, cpus) {
				t.Errorf("%d CPUs for %v: given out %v", n, roles, all)
			}
			if shared && all[len(all)-1] >= n {
				t.Errorf("%d CPUs for %v: given out %v", n, roles, all)
			}
		}
	}
}

func TestSharedWarning(t *testing.T) {
	for _, row := range []struct {
		cpus int
		want string
	}{
		{1, "server and driver share CPU 0, server and store share CPU 0, driver and store share CPU 0: each slows the other down"},
		{2, "driver and store share CPU 1: each slows the other down"},
	} {
		roles := []string{Server, Driver, Store}
		sets, _ := Assign(upTo(row.cpus), roles)
		if w := sharedWarning(sets, roles); w.Kind != "shared_cpu" || w.Text != row.want {
			t.Errorf("%d CPUs: %+v, want %s", row.cpus, w, row.want)
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
	// As Linux numbers 4 cores of 2 threads: 0-3 are the first threads, 4-7 the second ones.
	threads := func(cpu int) core { return core{0, cpu % 4} }
	// Two packages whose cores have the same ids.
	packages := func(cpu int) core { return core{cpu % 2, cpu / 2} }
	for _, row := range []struct {
		name  string
		cpus  []int
		of    func(int) core
		quota *float64
		want  []int
	}{
		{"threads side by side", upTo(8), threads, nil, []int{0, 4, 1, 5, 2, 6, 3, 7}},
		{"packages apart", upTo(4), packages, nil, []int{0, 2, 1, 3}},
		{"a quota of 2 is 2 cores", upTo(8), threads, new(2.0), []int{0, 1}},
		{"1.5 is rounded up", upTo(8), threads, new(1.5), []int{0, 1}},
		{"6 is 4 cores and 2 second threads", upTo(8), threads, new(6.0), []int{0, 4, 1, 5, 2, 3}},
		{"more than there is", upTo(2), threads, new(16.0), []int{0, 1}},
		{"a tenth of a CPU is still one", upTo(8), threads, new(0.1), []int{0}},
	} {
		if d := cmp.Diff(row.want, affordable(row.cpus, row.quota, row.of)); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
}

func TestCPUsOfThisMachine(t *testing.T) {
	cpus, err := CPUs()
	if err != nil || len(cpus) == 0 {
		t.Fatalf("%v, %v", cpus, err)
	}
	sorted := slices.Sorted(slices.Values(cpus))
	if len(slices.Compact(sorted)) != len(cpus) || sorted[0] < 0 {
		t.Errorf("CPUs %v", cpus)
	}
}
