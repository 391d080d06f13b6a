package run

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"bakeoff/harness/meter"
	"bakeoff/harness/result"
)

// Environment describes the machine and the build for the header of a result file. What can't be found out is left
// empty. A result file is made to be passed on, so there is no name of a host or a user in it and no path.
func Environment(ctx context.Context) result.Environment {
	e := result.Environment{
		CPUs: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Go: runtime.Version(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		GoEnv: goEnv(os.LookupEnv), Kernel: kernel(), Container: ContainerIn("/", os.Getenv),
	}
	if q := meter.Quota(); q != nil {
		e.CPUQuota = *q
	}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
			e.CPUModel = cpus[0].ModelName
		}
		if mem, err := fs.Meminfo(); err == nil && mem.MemTotalBytes != nil {
			e.MemBytes = *mem.MemTotalBytes
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		e.Modules = modules(info)
		if e.Git = builtFrom(info); e.Git == "" { // what the folder holds need not be what was built: it has a field of its own
			e.GitWorkingDirectory = checkout(ctx, info.Main.Path)
		}
	}
	return e
}

// goEnv are the settings of Go's runtime that change what is measured, as far as they are set. The children inherit
// them, except where a subject sets its own.
func goEnv(lookup func(string) (string, bool)) map[string]string {
	env := map[string]string{}
	for _, name := range []string{"GOGC", "GOMEMLIMIT", "GODEBUG"} {
		if v, ok := lookup(name); ok {
			env[name] = v
		}
	}
	return env
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// modules are the versions of everything that is linked in.
func modules(info *debug.BuildInfo) map[string]string {
	all := map[string]string{}
	for _, m := range info.Deps {
		v := m.Version
		if r := m.Replace; r != nil {
			// A replacement may be a folder of the user's; only its version may be told.
			v += " replaced"
			if r.Version != "" {
				v += " by " + r.Path + " " + r.Version
			}
		}
		all[m.Path] = v
	}
	return all
}

// builtFrom is the revision that the toolchain stamped into the executable: "go build" does, "go run" does not.
func builtFrom(info *debug.BuildInfo) string {
	var revision, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// checkout asks git for the state of the working directory, if that is a checkout of the module: the nearest truth for
// "go run", and no more than that: an executable that was built elsewhere may run there. Of a checkout of anything else it says nothing.
func checkout(ctx context.Context, module string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	git := func(args ...string) (string, bool) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err == nil
	}
	top, ok := git("rev-parse", "--show-toplevel")
	if !ok {
		return ""
	}
	mod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil || moduleName(mod) != module {
		return ""
	}
	revision, ok := git("rev-parse", "HEAD")
	if !ok {
		return ""
	}
	changed, ok := git("status", "--porcelain")
	switch {
	case !ok:
		return "" // a revision without knowing whether it was changed says too much
	case changed != "":
		return revision + "+dirty"
	}
	return revision
}

func moduleName(mod []byte) string {
	for s := bufio.NewScanner(bytes.NewReader(mod)); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// ContainerIn guesses what the processes of the file system at root are wrapped in, by the marks that the common ones leave; "" may
// also mean an uncommon one.
func ContainerIn(root string, getenv func(string) string) string {
	exists := func(path string) bool { _, err := os.Stat(filepath.Join(root, path)); return err == nil }
	switch {
	case getenv("KUBERNETES_SERVICE_HOST") != "":
		return "kubernetes"
	case exists(".dockerenv"):
		return "docker"
	case exists("run/.containerenv"):
		return "podman"
	}
	fs, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return ""
	}
	init, err := fs.Proc(1)
	if err != nil {
		return ""
	}
	groups, err := init.Cgroups()
	if err != nil {
		return ""
	}
	for _, g := range groups {
		for _, name := range []string{"kubepods", "docker", "podman", "lxc"} {
			if strings.Contains(g.Path, name) {
				return name
			}
		}
	}
	return ""
}
