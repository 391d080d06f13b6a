package meter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// Group is a control group of which the use can be read: all processes in it and below it, those that have ended included.
type Group struct {
	name string
	cpu  string // folder with cpu.stat (version 2) or cpuacct.usage (version 1)
	mem  string // folder with memory.stat; "" where there is none
	v1   bool
}

// FindGroup finds the group of a path as /proc/PID/cgroup has it ("/system.slice/aerospike.service"), or as a folder
// below the mount ("/sys/fs/cgroup/system.slice/aerospike.service").
func FindGroup(path string) (Group, error) { return FindGroupIn("/", path) }

// FindGroupIn is FindGroup in the file system at root.
func FindGroupIn(root, path string) (Group, error) {
	self, err := selfIn(root)
	if err != nil {
		return Group{}, fmt.Errorf("control group %q: %w", path, err)
	}
	mounts, err := self.MountInfo()
	if err != nil {
		return Group{}, fmt.Errorf("control group %q: where groups are mounted: %w", path, err)
	}
	var points []string
	for _, m := range mounts {
		if m.FSType == "cgroup" || m.FSType == "cgroup2" {
			points = append(points, m.MountPoint)
		}
	}
	within := pathWithin(points, path)
	find := func(file string, of func(*procfs.MountInfo) bool) string {
		for _, m := range mounts {
			if !of(m) {
				continue
			}
			for _, dir := range foldersOf(m, within) {
				if dir = filepath.Join(root, dir); exists(filepath.Join(dir, file)) {
					return dir
				}
			}
		}
		return ""
	}
	if dir := find("cpu.stat", func(m *procfs.MountInfo) bool { return m.FSType == "cgroup2" }); dir != "" {
		return Group{name: path, cpu: dir, mem: dir}, nil
	}
	controller := func(name string) func(*procfs.MountInfo) bool {
		return func(m *procfs.MountInfo) bool {
			_, ok := m.SuperOptions[name]
			return m.FSType == "cgroup" && ok
		}
	}
	if dir := find("cpuacct.usage", controller("cpuacct")); dir != "" {
		return Group{name: path, cpu: dir, mem: find("memory.stat", controller("memory")), v1: true}, nil
	}
	return Group{}, fmt.Errorf("control group %q: it is not there, or does not count CPU: want a path as in /proc/PID/cgroup, or a folder below /sys/fs/cgroup", path)
}

// pathWithin is the path without the mount point, if it has one. The longest counts: a mount may lie within another.
func pathWithin(points []string, path string) string {
	path = filepath.Clean("/" + path) // so that it can't lead out
	within, longest := path, 0
	for _, p := range points {
		rest, ok := strings.CutPrefix(path, p)
		if ok && len(p) > longest && (rest == "" || rest[0] == '/') {
			within, longest = rest, len(p)
		}
	}
	return within
}

// foldersOf are where a group may be seen through a mount: by its path, and by the part of it below what is mounted.
func foldersOf(m *procfs.MountInfo, path string) []string {
	dirs := []string{filepath.Join(m.MountPoint, path)}
	if rel, err := filepath.Rel(m.Root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		dirs = append(dirs, filepath.Join(m.MountPoint, rel))
	}
	return dirs
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Read reads the group's counters. RSS is what its processes have in memory of their own and mapped of files, without the
// kernel's cache of files, so that it is like a process's. Its peak is not known: the kernel's own has the cache in it.
// It may be called concurrently.
func (g Group) Read() (Reading, error) {
	r := Reading{At: time.Now()}
	info, err := os.Stat(g.cpu)
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("meter: control group %q: %w", g.name, ErrGone)
	}
	if err != nil {
		return r, fmt.Errorf("meter: control group %q: %w", g.name, err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		r.Born = new(stat.Ino)
	}
	var ok bool
	if g.v1 {
		ok = r.version1(read(g.cpu, "cpuacct.usage"), read(g.cpu, "cpuacct.stat"))
	} else {
		ok = r.version2(read(g.cpu, "cpu.stat"))
	}
	if !ok {
		return r, fmt.Errorf("meter: control group %q: its CPU can't be read", g.name)
	}
	if g.mem != "" {
		r.RSS = groupMemory(read(g.mem, "memory.stat"))
	}
	return r, nil
}

// Throttled is how often the group's own CPU quota ran out so far; nil where it has none.
func (g Group) Throttled() *Throttled { return parseThrottled([]byte(read(g.cpu, "cpu.stat"))) }

// version2 takes a cpu.stat: microseconds.
func (r *Reading) version2(text string) bool {
	stat := parseStat([]byte(text))
	usage, ok := stat.duration("usage_usec", time.Microsecond)
	if !ok {
		return false
	}
	r.CPU = usage
	user, ok := stat.duration("user_usec", time.Microsecond)
	system, ok2 := stat.duration("system_usec", time.Microsecond)
	if ok && ok2 {
		r.User, r.System = &user, &system
	}
	return true
}

// version1 takes a cpuacct.usage, nanoseconds, and a cpuacct.stat, ticks.
func (r *Reading) version1(usage, split string) bool {
	n, err := strconv.ParseUint(strings.TrimSpace(usage), 10, 63)
	if err != nil {
		return false
	}
	r.CPU = time.Duration(n)
	stat := parseStat([]byte(split))
	user, ok := stat.duration("user", time.Second/100)
	system, ok2 := stat.duration("system", time.Second/100)
	if ok && ok2 {
		r.User, r.System = &user, &system
	}
	return true
}

// groupMemory takes a memory.stat of either version: bytes. Version 1 has the sums over the groups below under total_.
func groupMemory(text string) *uint64 {
	stat := parseStat([]byte(text))
	for _, names := range [][2]string{{"anon", "file_mapped"}, {"total_rss", "total_mapped_file"}} {
		own, ok := stat[names[0]]
		mapped, ok2 := stat[names[1]]
		if sum := own + mapped; ok && ok2 && sum >= own {
			return &sum
		}
	}
	return nil
}
