package meter

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"
)

func TestStolen(t *testing.T) {
	before := HostReading{cpus: cpuTimes(map[int64]procfs.CPUStat{
		0: {User: 10, Idle: 20, Steal: 1}, 1: {User: 10, Idle: 20}, 2: {User: 5, Steal: 5},
	})}
	after := HostReading{cpus: cpuTimes(map[int64]procfs.CPUStat{
		0: {User: 11, Nice: 0.1, System: 0.2, Idle: 20.3, Iowait: 0.1, IRQ: 0.1, SoftIRQ: 0.1, Steal: 1.1, Guest: 9}, // 2 s, 0.1 stolen
		1: {User: 12, Idle: 20},                                                                                      // 2 s
		2: {User: 5, Steal: 4},                                                                                       // went backwards: unknown
		3: {User: 1},                                                                                                 // came into being
	})}
	u := SubHost(after, before)
	for _, row := range []struct {
		name string
		cpus []int
		want float64 // NaN: unknown
	}{
		{"one CPU", []int{0}, 0.1 / 2},
		{"two CPUs", []int{0, 1}, 0.1 / 4},
		{"all", nil, 0.1 / 4},
		{"unknown CPU", []int{2}, math.NaN()},
		{"new CPU", []int{3}, math.NaN()},
	} {
		got := u.Stolen(row.cpus)
		switch {
		case got == nil && !math.IsNaN(row.want):
			t.Errorf("%s: unknown, want %v", row.name, row.want)
		case got != nil && !(math.Abs(*got-row.want) < 1e-9):
			t.Errorf("%s: %v, want %v", row.name, *got, row.want)
		}
	}
}

func TestDropped(t *testing.T) {
	at := func(perCPU ...uint64) HostReading {
		var tracked []procfs.ConntrackStatEntry
		for _, n := range perCPU {
			tracked = append(tracked, procfs.ConntrackStatEntry{Drop: n, EarlyDrop: 99})
		}
		return HostReading{dropped: droppedOf(tracked)}
	}
	for _, row := range []struct {
		name          string
		before, after HostReading
		want          *uint64
	}{
		{"some", at(1, 2), at(4, 3), new(uint64(4))},
		{"none", at(1, 2), at(1, 2), new(uint64(0))},
		{"counted anew", at(9), at(1), nil},
		{"not tracked", HostReading{}, HostReading{}, nil},
	} {
		if d := cmp.Diff(row.want, SubHost(row.after, row.before).Dropped); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
}

func TestHostOfThisMachine(t *testing.T) {
	before := Host()
	c := startChild(t)
	c.do("burn 200ms")
	u := SubHost(Host(), before)
	if u.Elapsed < 200*time.Millisecond {
		t.Errorf("elapsed %v", u.Elapsed)
	}
	// How much was stolen is the hypervisor's affair; that it can be told, and is a share, is ours.
	if s := u.Stolen(nil); s == nil || *s < 0 || *s > 1 {
		t.Errorf("stolen share %v, want within 0 and 1", s)
	}
}

func TestParseThrottled(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       *Throttled
	}{
		{"version 2", "usage_usec 9\nuser_usec 5\nsystem_usec 4\nnr_periods 10\nnr_throttled 3\nthrottled_usec 2500\n",
			&Throttled{Periods: 3, Time: 2500 * time.Microsecond}},
		{"version 1", "nr_periods 10\nnr_throttled 3\nthrottled_time 2500\n", &Throttled{Periods: 3, Time: 2500}},
		{"never throttled", "nr_throttled 0\nthrottled_usec 0\n", &Throttled{}},
		{"no cpu controller", "usage_usec 9\nuser_usec 5\nsystem_usec 4\n", nil},
		{"half", "nr_throttled 3\n", nil},
		{"not a number", "nr_throttled x\nthrottled_usec 5\n", nil},
		{"empty", "", nil},
	} {
		if d := cmp.Diff(row.want, parseThrottled([]byte(row.text))); d != "" {
			t.Errorf("%s: %s", row.name, d)
		}
	}
}

func FuzzParseThrottled(f *testing.F) {
	f.Add([]byte("nr_throttled 3\nthrottled_usec 2500\n"))
	f.Add([]byte("nr_throttled 18446744073709551615\nthrottled_time -1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if th := parseThrottled(data); th != nil && th.Periods > math.MaxInt64 {
			t.Errorf("%d periods", th.Periods)
		}
	})
}

// A tree of groups as the two versions lay it out, with its files.
func TestGroups(t *testing.T) {
	root := t.TempDir()
	v1mount := &procfs.MountInfo{Root: "/", MountPoint: filepath.Join(root, "v1"), FSType: "cgroup",
		SuperOptions: map[string]string{"rw": "", "cpu": "", "cpuacct": ""}}
	v1other := &procfs.MountInfo{Root: "/", MountPoint: filepath.Join(root, "mem"), FSType: "cgroup",
		SuperOptions: map[string]string{"rw": "", "memory": ""}}
	v2mount := &procfs.MountInfo{Root: "/", MountPoint: filepath.Join(root, "v2"), FSType: "cgroup2"}
	docker := &procfs.MountInfo{Root: "/docker/1", MountPoint: filepath.Join(root, "box"), FSType: "cgroup2"}
	files := map[string]string{
		"v1/a/cpu.cfs_quota_us": "150000\n", "v1/a/cpu.cfs_period_us": "100000\n", "v1/a/cpu.stat": "nr_throttled 1\nthrottled_time 5\n",
		"v1/cpu.cfs_quota_us": "-1\n", "v1/cpu.cfs_period_us": "100000\n", "v1/cpu.stat": "nr_throttled 0\nthrottled_time 0\n",
		"v2/a/b/cpu.max": "max 100000\n", "v2/a/b/cpu.stat": "usage_usec 1\nnr_throttled 2\nthrottled_usec 30\n",
		"v2/a/cpu.max": "50000 100000\n", "v2/a/cpu.stat": "usage_usec 1\nnr_throttled 4\nthrottled_usec 50\n",
		"v2/cpu.stat": "usage_usec 1\n",
		"box/cpu.max": "200000 100000\n", "box/cpu.stat": "nr_throttled 7\nthrottled_usec 1\n",
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v1 := procfs.Cgroup{HierarchyID: 1, Controllers: []string{"cpu", "cpuacct"}, Path: "/a"}
	for _, row := range []struct {
		name      string
		groups    []procfs.Cgroup
		mounts    []*procfs.MountInfo
		quota     *float64
		throttled *Throttled
	}{
		{"version 1", []procfs.Cgroup{v1}, []*procfs.MountInfo{v1other, v1mount},
			new(150000.0 / 100000), &Throttled{Periods: 1 + 0, Time: 5}},
		{"version 2, the parent is tighter", []procfs.Cgroup{{Path: "/a/b"}}, []*procfs.MountInfo{v2mount},
			new(50000.0 / 100000), &Throttled{Periods: 2 + 4, Time: (30 + 50) * time.Microsecond}},
		{"version 2 without a limit", []procfs.Cgroup{{Path: "/"}}, []*procfs.MountInfo{v2mount}, nil, nil},
		{"both", []procfs.Cgroup{v1, {Path: "/a/b"}}, []*procfs.MountInfo{v1mount, v2mount},
			new(0.5), &Throttled{Periods: 1 + 6, Time: 5 + 80*time.Microsecond}},
		{"container without a namespace", []procfs.Cgroup{{Path: "/docker/1"}}, []*procfs.MountInfo{docker},
			new(2.0), &Throttled{Periods: 7, Time: time.Microsecond}},
		{"container with a namespace", []procfs.Cgroup{{Path: "/"}}, []*procfs.MountInfo{docker},
			new(2.0), &Throttled{Periods: 7, Time: time.Microsecond}},
		{"not mounted", []procfs.Cgroup{v1}, []*procfs.MountInfo{v1other}, nil, nil},
		{"another controller", []procfs.Cgroup{{HierarchyID: 2, Controllers: []string{"memory"}, Path: "/a"}},
			[]*procfs.MountInfo{v1mount, v1other}, nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := findGroups(row.groups, row.mounts)
			if d := cmp.Diff(row.quota, g.quota()); d != "" {
				t.Errorf("quota: %s", d)
			}
			if d := cmp.Diff(row.throttled, g.throttled()); d != "" {
				t.Errorf("throttled: %s", d)
			}
		})
	}
}
