// Package php runs a front in PHP: the DataType and Login of the HTTP API, answered by a backend that PHP calls with curl over HTTP
// or gRPC. It is the PHP side of the gateway experiment. The scripts beside it run without it, too; see README.md. It knows the wire and
// nothing of clients, flags or of what is measured.
package php

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed *.php
var scripts embed.FS

// The servers that can run the front.
const (
	// CLIServer is PHP's own, which starts anew for every request: nothing is kept, no connection of the caller either.
	CLIServer = "cli-server"
	// Workers are processes that live on and keep connections, as application servers for PHP have them.
	Workers = "workers"
)

// The backends that it can call.
const (
	None = "none" // the front answers by itself, and knows the one published pair
	HTTP = "http"
	GRPC = "grpc"
)

// Config says what front to start.
type Config struct {
	// Server is CLIServer or Workers.
	Server string
	// Addr is host:port to listen on; "" is a free port of loopback.
	Addr string
	// Listener is what Workers accept from, in the place of Addr: one of TCP. It stays the caller's to close, as soon as Start has returned.
	Listener net.Listener
	// Count is how many processes answer; each has one call at a time.
	Count int
	// Backend is None, HTTP or GRPC, and BackendAddr where it listens.
	Backend, BackendAddr string
	// Reuse has each worker keep its connection to the backend. CLIServer can't.
	Reuse bool
	// Timeout bounds a call, in whole milliseconds; 0 is 10 s. A caller's Grpc-Timeout header bounds it further.
	Timeout time.Duration
	// MaxMessage is the largest message either way, in bytes; 0 is 4 MiB. Idle is how long Workers keep a caller's idle connection, in whole
	// seconds; 0 is two minutes.
	MaxMessage int
	Idle       time.Duration
}

// check finds what no front could be started with.
func (c Config) check() error {
	switch {
	case c.Server != CLIServer && c.Server != Workers:
		return fmt.Errorf("server %q: must be %s or %s", c.Server, CLIServer, Workers)
	case c.Addr != "" && !listenable(c.Addr):
		return fmt.Errorf("address %q: must be host:port, with a port from 0 to 65535", c.Addr)
	case c.Count < 1 || c.Count > 999:
		return fmt.Errorf("%d processes: must be from 1 to 999", c.Count)
	case c.Backend != None && c.Backend != HTTP && c.Backend != GRPC:
		return fmt.Errorf("backend %q: must be %s, %s or %s", c.Backend, None, HTTP, GRPC)
	case (c.Backend == None) != (c.BackendAddr == ""):
		return fmt.Errorf("backend %s at %q: an address is for %s and %s, and they need one", c.Backend, c.BackendAddr, HTTP, GRPC)
	case c.Reuse && c.Server == CLIServer:
		return fmt.Errorf("a %s keeps nothing from one request to the next, no connection either: choose %s", CLIServer, Workers)
	case c.Timeout < 0 || c.Timeout%time.Millisecond != 0:
		return fmt.Errorf("timeout %v: must be whole milliseconds, and not below 0", c.Timeout)
	case c.Listener != nil && (c.Server == CLIServer || c.Addr != ""):
		return fmt.Errorf("a listener: %s accept from it, without an address of their own", Workers)
	case c.MaxMessage < 0 || c.Idle < 0 || c.Idle%time.Second != 0:
		return fmt.Errorf("largest message %d, idle %v: must not be below 0, and whole seconds", c.MaxMessage, c.Idle)
	}
	return nil
}

// listenable says whether PHP takes an address as it stands: it wraps ports that are too large.
func listenable(addr string) bool {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// Installed says whether there is a PHP that can run the front; the error says what is missing.
func Installed(ctx context.Context) error {
	const probe = `foreach (["curl", "pcntl", "posix", "json"] as $e) { if (!extension_loaded($e)) { echo "no extension $e"; exit(1); } }
if (!(curl_version()["features"] & CURL_VERSION_HTTP2)) { echo "no HTTP/2 in its libcurl"; exit(1); }
if (PHP_VERSION_ID < 80100) { echo "version ", PHP_VERSION, ", which is older than 8.1"; exit(1); }`
	out, err := exec.CommandContext(ctx, "php", "-r", probe).Output()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("php is not installed: apt-get install php-cli php-curl")
	}
	if err != nil {
		return fmt.Errorf("php can't run the front: %s: apt-get install php-cli php-curl (%w)", bytes.TrimSpace(out), err)
	}
	return nil
}

// Front is one that runs.
type Front struct {
	// Addr is where it listens.
	Addr string
	// Pid is that of the process that has the others as its children.
	Pid int

	cancel context.CancelFunc
	done   chan struct{}
	err    error // of the end; read after done
}

// ready is what the two servers say once they listen.
var ready = regexp.MustCompile(`(?:Development Server \(http://|^php front is listening on )([^\s)]+)`)

// Start starts a front and returns when it listens. It ends with ctx, or by Stop.
func Start(ctx context.Context, c Config) (*Front, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("start a php front: %w", err)
	}
	dir, err := os.MkdirTemp("", "bakeoff-php-")
	if err != nil {
		return nil, fmt.Errorf("start a php front: %w", err)
	}
	if err := os.CopyFS(dir, scripts); err != nil {
		return nil, errors.Join(fmt.Errorf("start a php front: %w", err), os.RemoveAll(dir))
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := c.command(ctx, dir)
	var said, w *os.File
	accepts, err := c.file()
	if err == nil {
		said, w, err = os.Pipe()
	}
	if err == nil {
		if accepts != nil {
			cmd.ExtraFiles = []*os.File{accepts}
		}
		cmd.Stdout, cmd.Stderr = w, w
		if _, err = cmd.StdinPipe(); err == nil {
			err = cmd.Start()
		}
		w.Close()
	}
	if accepts != nil {
		accepts.Close()
	}
	if err != nil {
		cancel()
		said.Close() // a nil one only says so
		return nil, errors.Join(fmt.Errorf("start a php front: %w", err), os.RemoveAll(dir))
	}
	f := &Front{Pid: cmd.Process.Pid, cancel: cancel, done: make(chan struct{})}
	log := &tail{}
	listening := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer said.Close()
		log.follow(said, listening)
	}()
	go func() {
		defer close(f.done)
		err := cmd.Wait()
		// PHP's own server leaves its workers behind when it is told to stop.
		_ = syscall.Kill(-f.Pid, syscall.SIGKILL)
		<-read
		if ctx.Err() == nil {
			err = fmt.Errorf("the php front ended by itself (%w): %s", errors.Join(err, errEnded), log)
		} else {
			err = nil
		}
		cancel()
		f.err = errors.Join(err, os.RemoveAll(dir))
	}()
	select {
	case f.Addr = <-listening:
		return f, nil
	case <-f.done:
		if f.err == nil { // ctx ended
			f.err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("start a php front: %w", f.err)
	}
}

var errEnded = errors.New("nobody told it to")

// file is the listener's, for the front to inherit; nil where it has none.
func (c Config) file() (*os.File, error) {
	if c.Listener == nil {
		return nil, nil
	}
	tcp, ok := c.Listener.(*net.TCPListener)
	if !ok {
		return nil, fmt.Errorf("a listener of %T: must be one of TCP", c.Listener)
	}
	return tcp.File()
}

// guard becomes php, and leaves behind what ends the whole group, and removes its folder, when this end of its stdin is closed: also when
// whoever started it was killed.
const guard = `dir=$1
shift
exec 4<&0
(exec 3<&-; read -r _ <&4; cd /; rm -rf -- "$dir"; kill -KILL -$$) &
exec php "$@" </dev/null 4<&-`

// command is the front's process, in a group of its own.
func (c Config) command(ctx context.Context, dir string) *exec.Cmd {
	addr := c.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	timeout := c.Timeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	// A body of any size reaches the front, which knows its own limit. Warnings would stand in answers.
	args := []string{"-d", "post_max_size=0", "-d", "memory_limit=256M", "-d", "display_errors=stderr", "-d", "html_errors=0"}
	env := []string{"BACKEND=" + c.Backend, "BACKEND_ADDR=" + c.BackendAddr, "BACKEND_REUSE=" + map[bool]string{false: "0", true: "1"}[c.Reuse],
		"BACKEND_TIMEOUT=" + strconv.FormatInt(timeout.Milliseconds(), 10)}
	if c.Server == CLIServer {
		args = append(args, "-q", "-S", addr, filepath.Join(dir, "front.php"))
		env = append(env, "PHP_CLI_SERVER_WORKERS="+strconv.Itoa(c.Count))
	} else {
		args = append(args, filepath.Join(dir, "workers.php"))
		env = append(env, "LISTEN="+addr, "LISTEN_FD="+map[bool]string{true: "3"}[c.Listener != nil], "WORKERS="+strconv.Itoa(c.Count))
	}
	// An empty one is the script's default, and not what this process's own environment has.
	env = append(env, "MAX_MESSAGE="+above0(int64(c.MaxMessage)), "IDLE="+above0(int64(c.Idle/time.Second)))
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", guard, "php", dir}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

func above0(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// Done is closed when the front has ended, whoever ended it.
func (f *Front) Done() <-chan struct{} { return f.done }

// Stop ends the front and all of its processes. It may be called more than once, and says why the front ended if that was before.
func (f *Front) Stop() error {
	f.cancel()
	<-f.done
	return f.err
}

// tail keeps the last lines that the front has said.
type tail struct {
	mu    sync.Mutex
	lines []string
}

// follow reads until all processes have closed their ends.
func (t *tail) follow(r io.Reader, listening chan<- string) {
	b := bufio.NewReader(r)
	for {
		line, err := b.ReadString('\n')
		if found := ready.FindStringSubmatch(line); found != nil {
			select {
			case listening <- found[1]:
			default: // each worker of PHP's own server says it
			}
		} else if line = strings.TrimSpace(line); line != "" {
			t.mu.Lock()
			t.lines = append(t.lines[max(0, len(t.lines)-4):], line)
			t.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "; ")
}
