package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bakeoff/harness/result"
)

// Suspect is something that differs between two files beside the figures. Empty is unknown, or not there.
type Suspect struct {
	What string `json:"what"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

func (s Suspect) String() string {
	or := func(v string) string {
		if v == "" {
			return "nothing"
		}
		return v
	}
	return fmt.Sprintf("%s: %s -> %s", s.What, or(s.Old), or(s.New))
}

// Suspects lists what differs between two headers: the machine, then what was built. Command lines, seeds and settings are not in it.
func Suspects(older, newer result.Header) []Suspect {
	all := []Suspect{}
	add := func(what, before, after string) {
		if before != after {
			all = append(all, Suspect{what, before, after})
		}
	}
	a, b := older.Env, newer.Env
	add("CPU", a.CPUModel, b.CPUModel)
	add("CPUs", number(a.CPUs), number(b.CPUs))
	add("CPU quota", quota(a.CPUQuota), quota(b.CPUQuota))
	add("memory", memory(a.MemBytes), memory(b.MemBytes))
	add("kernel", a.Kernel, b.Kernel)
	add("system", strings.TrimSpace(a.OS+" "+a.Arch), strings.TrimSpace(b.OS+" "+b.Arch))
	add("container", a.Container, b.Container)
	add("Go", a.Go, b.Go)
	add("GOMAXPROCS", number(a.GOMAXPROCS), number(b.GOMAXPROCS))
	each(a.GoEnv, b.GoEnv, add)
	known := func(what, before, after string) { // what is unknown of one of the two is no difference
		if before != "" && after != "" {
			add(what, before, after)
		}
	}
	known("bakeoff", stamped(older.Version), stamped(newer.Version))
	known("revision", a.Git, b.Git)
	known("revision of the working directory", a.GitWorkingDirectory, b.GitWorkingDirectory)
	each(a.Modules, b.Modules, func(what, before, after string) { add("module "+what, before, after) })
	return all
}

// stamped is a version that says what was built; "devel" is that of an executable without a stamp.
func stamped(version string) string {
	if version == "devel" {
		return ""
	}
	return version
}

// suspects lists those of the headers, then of what was asked for, then of what the trials had.
func suspects(older, newer result.File) []Suspect {
	all := Suspects(older.Header, newer.Header)
	add := func(what, before, after string) {
		if before != after {
			all = append(all, Suspect{what, before, after})
		}
	}
	add("experiment", older.Header.Experiment, newer.Header.Experiment)
	each(settings(older.Header.Settings), settings(newer.Header.Settings), func(what, before, after string) { add("setting "+what, before, after) })
	each(ofTrials(older), ofTrials(newer), func(what, before, after string) {
		if before != "" && after != "" { // a row of one file alone is said elsewhere
			add(what, before, after)
		}
	})
	return all
}

// each calls with the values of both maps, "" where one has none, in the order of the keys.
func each(a, b map[string]string, call func(key, before, after string)) {
	keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		call(k, a[k], b[k])
	}
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func quota(cpus float64) string {
	if cpus == 0 {
		return ""
	}
	return digits(cpus) + " CPUs"
}

func memory(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	s := scaleOf([]float64{float64(bytes)}, unitBytes)
	return digits(float64(bytes)/s.factor) + " " + s.unit
}

// settings flattens the settings of a run; flags (the command line's own words) only where nothing else has the name.
func settings(raw json.RawMessage) map[string]string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil // without settings, or with some that no bakeoff wrote: then nothing is known of them
	}
	flat := map[string]string{}
	var flags map[string]json.RawMessage
	if json.Unmarshal(fields["flags"], &flags) == nil {
		for name, v := range flags {
			name = strings.ReplaceAll(name, "-", "_")
			if _, many := fields[name+"s"]; !many { // --rate, of which the settings have the rates
				flat[name] = word(v)
			}
		}
	}
	for name, v := range fields {
		if name != "flags" {
			flat[name] = word(v)
		}
	}
	delete(flat, "seed") // another order is what a seed is for
	return flat
}

// word is a JSON value without blanks, and without the quotes of a string.
func word(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	var compact bytes.Buffer
	if json.Compact(&compact, v) != nil {
		return string(v)
	}
	return compact.String()
}

// ofTrials is what trials had that rows don't show: the store's own words, the CPUs of each role, the effective options, of the
// first trial with figures of each subject at each level.
func ofTrials(f result.File) map[string]string {
	all := map[string]string{}
	set := func(what, value string) {
		if _, ok := all[what]; !ok && value != "" {
			all[what] = value
		}
	}
	for _, t := range f.Trials {
		if t.Error != "" {
			continue
		}
		set("store "+storeKind(t.Store), storeName(t.Store))
		for role, cpus := range t.CPUSets {
			set("CPUs of the "+role, cpus)
		}
		var options map[string]json.RawMessage
		if json.Unmarshal(t.Options, &options) != nil {
			continue
		}
		for name, v := range options {
			set(fmt.Sprintf("option %s of %s @ %d", name, t.Subject, t.Concurrency), word(v))
		}
	}
	return all
}
