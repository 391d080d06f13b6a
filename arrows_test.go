// Package bakeoff_test holds the checks on the house itself.
package bakeoff_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rooms says which packages of ours each room may import, and why no others. A name ending in / stands for all
// below it. The first room whose name fits a package is its room, so the narrow ones come first.
var rooms = []struct {
	room string
	may  []string
	why  string
}{
	{"internal/", nil, "internal packages are used by all rooms and know none"},
	{"service", []string{}, "the rules know no transport, no harness and no flags"},
	{"store/miniaero", nil, "the embedded Aerospike stands on its own, so that others can use it"},
	{"store/storetest", []string{"service"}, "a store knows the service that it stores for, nothing else"},
	{"store/", []string{"service"}, "a store knows the service that it stores for, not servers or the harness"},
	{"proto/", []string{"proto/", "service", "protocol"}, "the wire's types are converted to the domain's and know no server or client"},
	{"thrift/", []string{"thrift/", "service", "protocol", "internal/"}, "the wire's types are converted to the domain's and know no server or client"},
	{"httpapi", []string{"service", "protocol", "protocol/pool", "protocol/gzipped"}, "the wire's types are converted to the domain's and know no server or client"},
	{"protocol/suite", []string{"protocol", "servers/", "clients/", "proto/", "thrift/", "httpapi", "internal/"}, "the list of contestants does not know who measures them"},
	{"protocol/conformance", []string{"protocol", "service", "store/memory"}, "the kit is one for all protocols and knows none"},
	{"protocol", []string{"service", "protocol/pool", "internal/"}, "what a protocol is does not depend on any one of them"},
	{"servers/", []string{"protocol", "protocol/nethttp", "protocol/gzipped", "service", "proto/", "thrift/", "httpapi/"}, "a server knows its wire, not clients, harness or flags"},
	{"clients/", []string{"protocol", "protocol/pool", "protocol/nethttp", "protocol/gzipped", "service", "proto/", "thrift/", "httpapi/"}, "a client knows its wire, not servers, harness or flags"},
	{"harness/control", nil, "the lines between processes know neither end"},
	{"harness/load", nil, "when calls are due does not depend on what they do"},
	{"harness/meter", nil, "a meter reads any process"},
	{"harness/admin", []string{"harness/meter", "internal/"}, "who tells what a process has used knows no trials, no protocols and no flags"},
	{"harness/plan", []string{"internal/"}, "a plan is names and numbers"},
	{"harness/result", nil, "who writes and who reads results meet in the file alone"},
	{"harness/stats", nil, "statistics are over numbers"},
	{"harness/record", []string{"harness/load"}, "recording knows no files and no protocols"},
	{"harness/workload", []string{"harness/load", "service", "internal/"}, "a workload does not know which protocol carries it"},
	{"harness/planted", []string{"service"}, "what is planted in a service does not know who looks for it"},
	{"harness/drive", []string{"harness/control", "harness/load", "harness/record", "harness/workload", "harness/plan", "harness/result", "protocol", "service", "internal/"},
		"the client side of a trial starts no processes"},
	{"harness/run", []string{"harness/control", "harness/plan", "harness/meter", "harness/result", "internal/"}, "whoever runs processes knows no protocols and no load"},
	{"harness/doctor", []string{"harness/run", "harness/meter", "internal/"}, "the doctor looks at what a run and its meters need of the machine; it knows no protocols, no store and no figures"},
	{"harness/report", []string{"harness/result", "harness/stats", "internal/"}, "a report never needs what produced the results"},
	{"harness/live", []string{"harness/report", "harness/result", "internal/"}, "the page shows results, however they arise"},
	{"bench/", []string{""}, "benchmarks see everything"},
	{"cmd/", []string{""}, "the command is the only place that knows all"},
}

// TestArrows parses the imports itself (no go list), so that the test cache sees every file that it read.
func TestArrows(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "results" || name == "bin" || isModule(file)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil // a test may reach across: a server is tested through the real client
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := path.Dir(filepath.ToSlash(file))
		for _, imp := range parsed.Imports {
			name, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			if name == "testing" && !strings.HasSuffix(from, "test") && !fits(from, "bench") {
				t.Errorf("%s imports testing: what only tests need stands in a package whose name ends in test, so that no command links it", file)
			}
			to, ours := strings.CutPrefix(name, "bakeoff/")
			if !ours {
				continue
			}
			checked++
			if reason := broken(from, to); reason != "" {
				t.Errorf("%s imports bakeoff/%s: %s", file, to, reason)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 20 {
		t.Errorf("only %d imports were seen: this test does not look where the code is", checked)
	}
}

// TestArrowsCanFail shows that the check finds what it is for.
func TestArrowsCanFail(t *testing.T) {
	for _, c := range []struct {
		from, to string
		broken   bool
	}{
		{"harness/load", "protocol", true},
		{"harness/report", "harness/run", true},
		{"servers/grpcserver", "clients/grpcclient", true},
		{"servers/grpcserver", "protocol", false},
		{"harness/record", "harness/load", false},
		{"harness/run", "protocol/suite", true},
		{"store/miniaero", "service", true},
		{"store/aerospike", "service", false},
		{"nowhere/new", "service", true},
		{"protocol/conformance", "protocol/conformance/x", false},
		{"cmd/bakeoff", "harness/run", false},
	} {
		if got := broken(c.from, c.to); (got != "") != c.broken {
			t.Errorf("%s -> %s: %q, want broken=%v", c.from, c.to, got, c.broken)
		}
	}
}

func isModule(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "go.mod"))
	return len(found) > 0
}

// broken is the sentence that an import breaks, or "".
func broken(from, to string) string {
	here := roomOf(from)
	if here < 0 {
		return "this folder has no room in the map: add it to rooms with what it may import, and to the design"
	}
	r := rooms[here]
	// A room without a slash is one whole; in one with a slash each folder stands alone: servers don't import servers.
	if here == roomOf(to) && (!strings.HasSuffix(r.room, "/") || fits(to, from)) {
		return ""
	}
	for _, may := range r.may {
		if may == "" || to == may || strings.HasSuffix(may, "/") && fits(to, may) {
			return ""
		}
	}
	return r.why
}

func roomOf(pkg string) int {
	for i, r := range rooms {
		if fits(pkg, r.room) {
			return i
		}
	}
	return -1
}

// fits says whether a package is the room or lies below it.
func fits(pkg, room string) bool {
	room = strings.TrimSuffix(room, "/")
	return pkg == room || strings.HasPrefix(pkg, room+"/")
}
