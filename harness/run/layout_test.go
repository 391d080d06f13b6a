package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sys writes files of a machine's /sys below a root of their own.
func sys(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "sys/devices/system", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestReadLayout(t *testing.T) {
	const siblings = "cpu/cpu%d/topology/thread_siblings_list"
	two := map[string]string{"node/node0/cpulist": "0-9,20-29", "node/node1/cpulist": "10-19,30-39"} // 2 sockets of 10 cores of 2 threads
	for cpu := range 40 {
		two[fmt.Sprintf(siblings, cpu)] = fmt.Sprintf("%d,%d", cpu%20, cpu%20+20)
	}
	for _, row := range []struct {
		name  string
		files map[string]string
		cpus  []int
		want  Layout
	}{
		{"nothing is known", nil, []int{0, 1}, Layout{{0, 0, 0}, {1, 1, 0}}},
		{"threads numbered side by side", map[string]string{
			"cpu/cpu0/topology/thread_siblings_list": "0-1", "cpu/cpu1/topology/thread_siblings_list": "0-1",
			"cpu/cpu2/topology/thread_siblings_list": "2-3", "cpu/cpu3/topology/thread_siblings_list": "2-3", "node/node0/cpulist": "0-3",
		}, upTo(4), Layout{{0, 0, 0}, {1, 0, 0}, {2, 2, 0}, {3, 2, 0}}},
		{"two sockets", two, []int{0, 9, 10, 29, 39}, Layout{{0, 0, 0}, {9, 9, 0}, {10, 10, 1}, {29, 9, 0}, {39, 19, 1}}},
		{"only the second threads are ours", two, []int{21, 22}, Layout{{21, 1, 0}, {22, 2, 0}}},
		{"nodes without CPUs, and one with a gap in the numbers", map[string]string{"node/node0/cpulist": "", "node/node8/cpulist": "0-1"}, []int{0, 1},
			Layout{{0, 0, 8}, {1, 1, 8}}},
		{"nonsense", map[string]string{"cpu/cpu0/topology/thread_siblings_list": "zero", "node/node0/cpulist": "9-1", "node/node0x/cpulist": "0"}, []int{0},
			Layout{{0, 0, 0}}},
	} {
		if d := cmp.Diff(row.want, ReadLayout(sys(t, row.files), row.cpus)); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
	// From the files to the sets: 10 cores of node 0, a quarter of them for the store, no core for two.
	sets, _ := Assign(ReadLayout(sys(t, two), upTo(40)), []string{Server, Driver, Store})
	for role, want := range map[string]string{Server: "0-3,20-23", Driver: "4-7,24-27", Store: "8-9,28-29"} {
		if got := FormatCPUs(sets[role]); got != want {
			t.Errorf("%s has %s, want %s", role, got, want)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	for _, row := range []struct {
		text string
		want []int
		bad  bool
	}{
		{"", nil, false}, {"0\n", []int{0}, false}, {"0-3,8", []int{0, 1, 2, 3, 8}, false}, {" 7 ", []int{7}, false}, {"2-2", []int{2}, false},
		{"3-1", nil, true}, {"-1", nil, true}, {"1-", nil, true}, {"1,,2", nil, true}, {"x", nil, true}, {"0-99999999999999999999", nil, true}, {"+1", nil, true},
	} {
		got, err := ParseCPUs(row.text)
		if !slices.Equal(got, row.want) || (err != nil) != row.bad {
			t.Errorf("%q: %v, %v", row.text, got, err)
		}
	}
}

// What is read is what is written.
func FuzzParseCPUs(f *testing.F) {
	for _, s := range []string{"", "0", "0-3,8", "0-65535,0-65535", "5,3", "1-1", ",", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := ParseCPUs(text)
		if err != nil {
			return
		}
		again, err := ParseCPUs(FormatCPUs(slices.Compact(sorted(cpus))))
		if err != nil || !slices.Equal(again, slices.Compact(sorted(cpus))) {
			t.Errorf("%q: %v, then %v, %v", text, cpus, again, err)
		}
	})
}
