package php_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"bakeoff/servers/php"
	"bakeoff/service"
	"bakeoff/service/servicetest"
)

// script is the workers' own script as it is run by hand, under these settings alone.
func script(t *testing.T, settings ...string) *exec.Cmd {
	t.Helper()
	needPHP(t)
	cmd := exec.CommandContext(t.Context(), "php", "-d", "display_errors=stderr", "workers.php")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, settings...)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// TestBadSettings: what is wrong with a setting is said, with its name and what it is, and nothing is started.
func TestBadSettings(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for setting, want := range map[string]string{
		"IDLE=0": "must be seconds, from 1", "IDLE=-1": "must be seconds", "IDLE=2m": "must be seconds", "IDLE=soon": "must be seconds", "IDLE=1.5": "must be seconds",
		"MAX_MESSAGE=0": "must be bytes, from 1", "MAX_MESSAGE=-5": "must be bytes", "MAX_MESSAGE=4MiB": "must be bytes", "MAX_MESSAGE=1e6": "must be bytes",
		"LISTEN_FD=x": "must be the number of a socket that listens", "LISTEN_FD=-1": "must be the number", "LISTEN_FD=77": "must be the number",
		"LISTEN_FD=3":  "must be the number", // the file
		"WORKERS=1000": "must be from 1 to 999", "WORKERS=0x2": "must be from 1 to 999",
		"LISTEN=nowhere": "must be host:port", "LISTEN=127.0.0.1:65536": "must be host:port, with a port from 0 to 65535",
		"BACKEND=thrift": "must be none, http or grpc", "BACKEND_REUSE=yes": "must be 0 or 1",
		"BACKEND_TIMEOUT=0": "must be milliseconds, from 1 to 999999999", "BACKEND_TIMEOUT=10s": "must be milliseconds",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			cmd := script(t, setting)
			cmd.ExtraFiles = []*os.File{file}
			out, err := cmd.CombinedOutput()
			name, value, _ := strings.Cut(setting, "=")
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), fmt.Sprintf("php front: %s is '%s': %s", name, value, want)) {
				t.Errorf("got %v, %s, want exit code 2 and %s", err, out, want)
			}
		})
	}
}

// TestListenFD: the workers accept from a socket that was opened for them, and LISTEN is not looked at.
func TestListenFD(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := script(t, "LISTEN_FD=3", "LISTEN=127.0.0.1:1", "WORKERS=2")
	cmd.ExtraFiles = []*os.File{file}
	var told bytes.Buffer
	cmd.Stderr = &told
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if want := "php front is listening on " + l.Addr().String() + "\n"; err != nil || line != want {
		t.Errorf("it says %q (%v), want %q", line, err, want)
	} else if status, body, _ := ask(t, "POST", "http://"+l.Addr().String()+"/v1/datatype", known); status != 200 || !strings.Contains(body, `"codeId":101`) {
		t.Errorf("got %d %s", status, body)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, &told)
	}
}

// TestListener: a front takes a listener of TCP, and no other.
func TestListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if f, err := php.Start(t.Context(), php.Config{Server: php.Workers, Count: 1, Backend: php.None, Listener: struct{ net.Listener }{l}}); err == nil ||
		!strings.Contains(err.Error(), "must be one of TCP") {
		t.Errorf("another kind: got %v, %v", f, err)
	}
	f := start(t, php.Config{Server: php.Workers, Count: 1, Backend: php.None, Listener: l})
	if f.Addr != l.Addr().String() {
		t.Errorf("it listens on %s, want %s", f.Addr, l.Addr())
	}
	if status, body, _ := ask(t, "POST", "http://"+f.Addr+"/v1/datatype", known); status != 200 {
		t.Errorf("got %d %s", status, body)
	}
}

// TestIdle: a caller's connection is ended once it has waited for its next request for so long, and not while requests come.
func TestIdle(t *testing.T) {
	t.Parallel()
	f := start(t, php.Config{Server: php.Workers, Count: 1, Backend: php.None, Idle: time.Second})
	conn, err := net.Dial("tcp", f.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	var asked time.Time
	for range 3 {
		asked = time.Now()
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		rp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(rp.Body); err != nil || rp.StatusCode != 200 || rp.Close {
			t.Fatalf("got %d %s, %v, closing: %t", rp.StatusCode, b, err, rp.Close)
		}
	}
	b, err := r.ReadByte()
	if waited := time.Since(asked); !errors.Is(err, io.EOF) || waited < time.Second {
		t.Errorf("got byte %q and %v after %v, want the end after a second at the least", b, err, waited)
	}
}

// TestMaxMessage: a larger message is refused as all protocols do, be it the caller's or the backend's.
func TestMaxMessage(t *testing.T) {
	const limit = 200
	api := servicetest.API{OnDataType: func(_ context.Context, r service.DataTypeRequest) (service.DataType, error) {
		if r.Name == "large" {
			return service.DataType{CodeID: 1, CnName: strings.Repeat("x", 2*limit)}, nil
		}
		return service.DataType{CodeID: 101}, nil
	}}
	for _, c := range variants() {
		t.Run(name(c), func(t *testing.T) {
			t.Parallel()
			c.BackendAddr, c.MaxMessage = serve(t, c.Backend, api).addr, limit
			url := "http://" + start(t, c).Addr + "/v1/datatype"
			padded := func(n int) string {
				const open, end = `{"groupName":"g","enName":"`, `"}`
				return open + strings.Repeat("x", n-len(open)-len(end)) + end
			}
			for _, row := range []struct {
				what, body string
				status     int
				want       string
			}{
				{"at the limit", padded(limit), 200, `"codeId":101`},
				{"above it", padded(limit + 1), 413, "the request is larger than the limit of 200 bytes"},
				{"the answer", `{"groupName":"g","enName":"large"}`, 413, "the answer is larger than the limit of 200 bytes"},
				{"after that", known, 200, `"codeId":101`},
			} {
				status, body, _ := ask(t, "POST", url, row.body)
				if status != row.status || !strings.Contains(body, row.want) || status != 200 && !strings.Contains(body, `"code":"resource_exhausted"`) {
					t.Errorf("%s: got %d %s, want %d %s", row.what, status, body, row.status, row.want)
				}
			}
		})
	}
}

// TestOwnEnvironment: what this process has in its environment under the names of settings is none of a front's.
func TestOwnEnvironment(t *testing.T) {
	for _, name := range []string{"IDLE", "MAX_MESSAGE", "LISTEN", "LISTEN_FD", "WORKERS", "BACKEND", "BACKEND_ADDR", "BACKEND_REUSE", "BACKEND_TIMEOUT"} {
		t.Setenv(name, "of mine")
	}
	for _, server := range []string{php.CLIServer, php.Workers} {
		f := start(t, php.Config{Server: server, Count: 1, Backend: php.None})
		if status, body, _ := ask(t, "POST", "http://"+f.Addr+"/v1/datatype", known); status != 200 {
			t.Errorf("%s: got %d %s", server, status, body)
		}
	}
}
