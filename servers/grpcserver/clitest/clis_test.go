// Package clitest drives `bakeoff serve grpc` with the programs that gRPC's users have: gRPCurl and ghz, as their authors build them.
// The servers are the two of the published reflection experiment: one without reflection, which needs the .proto file, and one with it.
package clitest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const root = "../../.."

var bin string // where the programs are

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "clitest-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = dir
	for _, b := range []struct {
		dir      string
		packages []string
	}{
		{".", []string{"github.com/fullstorydev/grpcurl/cmd/grpcurl", "github.com/bojand/ghz/cmd/ghz"}},
		{root, []string{"./cmd/bakeoff"}},
	} {
		cmd := exec.Command("go", append([]string{"build", "-o", dir + "/"}, b.packages...)...)
		cmd.Dir = b.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", b.packages, err, out)
			return 1
		}
	}
	return m.Run()
}

var listening = regexp.MustCompile(`^grpc is listening on (127\.0\.0\.1:[0-9]+)`)

// serve starts a server, waits for the line that says where it listens, and ends it with the test.
func serve(t *testing.T, options ...string) (addr string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "bakeoff"), append([]string{"serve", "grpc", "--addr", "127.0.0.1:0", "--store", "memory"}, options...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v: %s", err, said.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	found := listening.FindStringSubmatch(line)
	if found == nil {
		t.Fatalf("the server said %q (%v): %s", line, err, said.String())
	}
	return found[1]
}

// tool runs a program with a bound on its time, and gives what it printed.
func tool(t *testing.T, input string, name string, args ...string) (out string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.WaitDelay = time.Second
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err = cmd.Run()
	return both.String(), err
}

// both are the two servers of the experiment, and what a client must be told of each beside its address.
func both(t *testing.T) map[string]struct {
	addr  string
	proto []string // flags
} {
	type server = struct {
		addr  string
		proto []string
	}
	files := func(flag string) []string { return []string{flag, filepath.Join(root, "proto")} }
	return map[string]server{
		"with reflection": {addr: serve(t, "--reflection")},
		"with .proto files": {addr: serve(t), proto: append(files("-import-path"),
			"-proto", "routeguide/routeguide.proto", "-proto", "inf/inf.proto")},
	}
}

func TestGRPCurlLists(t *testing.T) {
	for name, s := range both(t) {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-plaintext"}, s.proto...)
			out, err := tool(t, "", "grpcurl", append(args, s.addr, "list")...)
			if s.proto != nil { // grpcurl then asks no server
				out, err = tool(t, "", "grpcurl", append(s.proto, "list")...)
			}
			wantLines(t, out, err, "inf.Data", "routeguide.RouteGuide")
			if s.proto == nil {
				wantLines(t, out, err, "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
			}
			describe := append(append([]string{}, args...), s.addr, "describe", "routeguide.RouteGuide.RecordRoute")
			if s.proto != nil {
				describe = append(append([]string{}, s.proto...), "describe", "routeguide.RouteGuide.RecordRoute")
			}
			out, err = tool(t, "", "grpcurl", describe...)
			wantLines(t, out, err, "rpc RecordRoute ( stream .routeguide.Point ) returns ( .routeguide.RouteSummary );")
		})
	}
}

func TestWithoutReflectionNothingIsListed(t *testing.T) {
	out, err := tool(t, "", "grpcurl", "-plaintext", serve(t), "list")
	if err == nil || !strings.Contains(out, "does not support the reflection API") {
		t.Errorf("%v: %s", err, out)
	}
}

// calls are one of each kind, with the published answers.
var calls = []struct{ kind, method, data, want string }{
	{"unary", "inf.Data/DataType", `{"groupName":"USER_EVENT","enName":"app_call_connect_success"}`, `{"authRp":{},"codeId":"101","cnName":"語音接通"}`},
	{"unary, to a place", "routeguide.RouteGuide/GetFeature", `{"latitude":1,"longitude":2}`, `{"location":{"latitude":1,"longitude":2}}`},
	{"client stream", "routeguide.RouteGuide/RecordRoute", `{"latitude":-460000000,"longitude":-1160000000} {"latitude":720000000,"longitude":-540000000}`,
		`{"pointCount":2,"distance":13975745}`},
	{"both ways", "routeguide.RouteGuide/RouteChat", `{"location":{"latitude":7,"longitude":8},"message":"a"} {"location":{"latitude":7,"longitude":8},"message":"b"}`,
		`{"location":{"latitude":7,"longitude":8},"message":"a"}` +
			`{"location":{"latitude":7,"longitude":8},"message":"a"}{"location":{"latitude":7,"longitude":8},"message":"b"}`},
}

func TestGRPCurlCalls(t *testing.T) {
	for name, s := range both(t) {
		for _, c := range calls {
			t.Run(name+"/"+c.kind, func(t *testing.T) {
				args := append([]string{"-plaintext", "-max-time", "30", "-d", "@"}, s.proto...)
				out, err := tool(t, c.data, "grpcurl", append(args, s.addr, c.method)...)
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if got := compact(t, out); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		}
		t.Run(name+"/server stream", func(t *testing.T) {
			args := append([]string{"-plaintext", "-max-time", "30", "-d", "@"}, s.proto...)
			out, err := tool(t, `{"lo":{"latitude":-900000000,"longitude":-1800000000},"hi":{"latitude":900000000,"longitude":1800000000}}`, "grpcurl",
				append(args, s.addr, "routeguide.RouteGuide/ListFeatures")...)
			if n := strings.Count(out, `"name"`); err != nil || n < 100 {
				t.Errorf("%d places, %v", n, err)
			}
		})
	}
}

// A short load of the published kind: every call is answered, whether ghz knows the service from the server or from the file.
func TestGHZ(t *testing.T) {
	servers := both(t)
	for name, s := range servers {
		for _, c := range []struct{ method, data string }{
			{"routeguide.RouteGuide.RecordRoute", `[{"latitude":-460000000,"longitude":-1160000000},{"latitude":720000000,"longitude":-540000000}]`},
			{"routeguide.RouteGuide.GetFeature", `{"latitude":1,"longitude":2}`},
			{"routeguide.RouteGuide.ListFeatures", `{"lo":{"latitude":0,"longitude":0},"hi":{"latitude":900000000,"longitude":1800000000}}`},
			{"routeguide.RouteGuide.RouteChat", `[{"location":{"latitude":9,"longitude":9},"message":"a"}]`},
		} {
			t.Run(name+"/"+c.method, func(t *testing.T) {
				args := []string{"--insecure", "--call", c.method, "-d", c.data, "-n", "200", "-c", "10", "-O", "json"}
				if s.proto != nil {
					args = append(args, "--proto", filepath.Join(root, "proto/routeguide/routeguide.proto"))
				}
				out, err := tool(t, "", "ghz", append(args, s.addr)...)
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				var report struct {
					Count                  int            `json:"count"`
					StatusCodeDistribution map[string]int `json:"statusCodeDistribution"`
				}
				if err := json.Unmarshal([]byte(out), &report); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if report.Count != 200 || report.StatusCodeDistribution["OK"] != 200 {
					t.Errorf("%d calls, %v", report.Count, report.StatusCodeDistribution)
				}
			})
		}
	}
}

func wantLines(t *testing.T, out string, err error, want ...string) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("%q is missing in:\n%s", w, out)
		}
	}
}

// compact takes the white space out of a sequence of JSON values.
func compact(t *testing.T, out string) string {
	t.Helper()
	var all bytes.Buffer
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := json.Compact(&all, v); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
