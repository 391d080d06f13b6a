package meter

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// cpuGroups are the directories of the control groups around a process that can limit its CPU, the innermost
// first: a quota holds for everything below it, so each of them counts.
type cpuGroups []string

// ownGroups finds the control groups of this process under version 1 and 2.
func ownGroups() cpuGroups { return groupsIn("/") }

// groupsIn finds those of the process that /proc/self is in the file system at root.
func groupsIn(root string) cpuGroups {
	self, err := selfIn(root)
	if err != nil {
		return nil
	}
	groups, err := self.Cgroups()
	if err != nil {
		return nil
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return nil
	}
	dirs := findGroups(groups, mounts)
	for i, dir := range dirs {
		dirs[i] = filepath.Join(root, dir)
	}
	return dirs
}

func selfIn(root string) (procfs.Proc, error) {
	fs, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return procfs.Proc{}, err
	}
	return fs.Self()
}

// findGroups joins what /proc/self/cgroup says (the path within a hierarchy) with where the hierarchy is mounted.
// In a container without a namespace for control groups the path begins with the root of the mount; in one with it
// the mount is the container's own group and the path is "/".
func findGroups(groups []procfs.Cgroup, mounts []*procfs.MountInfo) cpuGroups {
	var dirs cpuGroups
	for _, g := range groups {
		v2 := g.HierarchyID == 0 && len(g.Controllers) == 0
		if !v2 && !slices.Contains(g.Controllers, "cpu") {
			continue
		}
		for _, m := range mounts {
			_, hasCPU := m.SuperOptions["cpu"]
			if (v2 && m.FSType != "cgroup2") || (!v2 && (m.FSType != "cgroup" || !hasCPU)) {
				continue
			}
			rel, err := filepath.Rel(m.Root, g.Path)
			if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
				rel = "." // the group lies outside of what is mounted: what is mounted is the nearest that can be seen
			}
			for dir := filepath.Join(m.MountPoint, rel); ; dir = filepath.Dir(dir) {
				dirs = append(dirs, dir)
				if dir == m.MountPoint || len(dir) <= len(m.MountPoint) {
					break
				}
			}
			break
		}
	}
	return dirs
}

// quota is the tightest limit of all groups in CPUs, nil for none.
func (g cpuGroups) quota() *float64 {
	var least *float64
	for _, dir := range g {
		if q := groupQuota(dir); q != nil && (least == nil || *q < *least) {
			least = q
		}
	}
	return least
}

// groupQuota reads cpu.max ("150000 100000", or "max 100000") of version 2, else the two files of version 1, where
// -1 means no limit.
func groupQuota(dir string) *float64 {
	fields := strings.Fields(read(dir, "cpu.max"))
	if len(fields) != 2 {
		fields = []string{strings.TrimSpace(read(dir, "cpu.cfs_quota_us")), strings.TrimSpace(read(dir, "cpu.cfs_period_us"))}
	}
	quota, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || quota <= 0 {
		return nil
	}
	period, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || period <= 0 {
		return nil
	}
	return new(quota / period)
}

// throttled adds the counters of all groups that have them up; nil when none has.
func (g cpuGroups) throttled() *Throttled {
	var sum *Throttled
	for _, dir := range g {
		t := parseThrottled([]byte(read(dir, "cpu.stat")))
		if t == nil {
			continue
		}
		if sum == nil {
			sum = &Throttled{}
		}
		sum.Periods += t.Periods
		sum.Time += t.Time
	}
	return sum
}

// parseThrottled reads a cpu.stat: nr_throttled, and throttled_usec (version 2) or throttled_time (version 1, in
// nanoseconds). Nil unless both are there: a group without the cpu controller lists only its usage.
func parseThrottled(data []byte) *Throttled {
	stat := parseStat(data)
	periods, ok := stat["nr_throttled"]
	if !ok {
		return nil
	}
	for name, unit := range map[string]time.Duration{"throttled_usec": time.Microsecond, "throttled_time": time.Nanosecond} {
		if waited, ok := stat.duration(name, unit); ok {
			return &Throttled{Periods: periods, Time: waited}
		}
	}
	return nil
}

// read gives the file's text, "" if it can't be read.
func read(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}
