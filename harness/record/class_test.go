package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// errClass is an error that is its own class.
type errClass string

func (e errClass) Error() string { return "an error of class " + string(e) }
func (e errClass) Class() string { return string(e) }

func TestClass(t *testing.T) {
	op := func(err error) error {
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", err)}
	}
	for _, row := range []struct {
		err  error
		want string
	}{
		{errClass("store_pool"), "store_pool"},
		{fmt.Errorf("call 7: %w", errClass("not_found")), "not_found"},
		{errors.Join(io.EOF, errClass("stale_conn")), "stale_conn"}, // what says its class is believed first
		{fmt.Errorf("%w, %w", errClass(""), io.EOF), "reset"},       // an empty class is none
		{op(syscall.ECONNREFUSED), "refused"},
		{op(syscall.ECONNRESET), "reset"},
		{op(syscall.EPIPE), "reset"},
		{fmt.Errorf("reading: %w", io.EOF), "reset"},
		{io.ErrUnexpectedEOF, "reset"},
		{op(syscall.EMFILE), "local"},
		{op(syscall.ENFILE), "local"},
		{op(syscall.EADDRNOTAVAIL), "local"},
		{op(syscall.ENOBUFS), "local"},
		{op(syscall.ENOMEM), "local"},
		{op(syscall.ETIMEDOUT), "timeout"},
		{os.ErrDeadlineExceeded, "timeout"},
		{context.DeadlineExceeded, "timeout"},
		{context.Canceled, "cancelled"},
		{errors.New("odd"), "other"},
	} {
		if got := Class(row.err); got != row.want {
			t.Errorf("%v: class %s, want %s", row.err, got, row.want)
		}
	}
}

// TestADialedRefusal classes what the system really says.
func TestADialedRefusal(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = net.Dial("tcp", l.Addr().String())
	if got := Class(err); got != "refused" {
		t.Errorf("%v: class %s", err, got)
	}
}

func TestExamplesAreBounded(t *testing.T) {
	s := New([]string{"call"}, false)
	r := s.Recorder()
	fail := func(err error) { call := closed(time.Millisecond); call.Err = err; r.Record(call) }
	for i := range 1000 {
		fail(fmt.Errorf("connection %d broke: %w", i%100, errClass("reset"))) // 100 messages, 10 times each
	}
	fail(errClass("ok")) // a failure that calls itself a success
	fail(errors.New(strings.Repeat("語", 200)))
	for i := range 100 {
		fail(errClass(fmt.Sprintf("class_%03d", i)))
	}
	sum := s.Summary()
	if sum.OK != 0 || len(sum.Failed) != maxClasses || sum.Failed["reset"] != 1000 || sum.Failed["ok"] != 0 {
		t.Errorf("ok %d, failed %v", sum.OK, sum.Failed)
	}
	if others := sum.Failed["other"]; others != 1+1+100-(maxClasses-2) { // "ok", the long one, and what found no class free
		t.Errorf("%d others", others)
	}
	var total uint64
	for _, n := range sum.Failed {
		total += n
	}
	if total != 1000+1+1+100 {
		t.Errorf("%d failures", total)
	}
	each := map[string]int{}
	for _, e := range sum.Examples {
		each[e.Class]++
		if each[e.Class] > maxMessages || len(e.Message) > maxMessage+3 || e.Count == 0 {
			t.Errorf("example %d of %s: %d times %q", each[e.Class], e.Class, e.Count, e.Message)
		}
		if e.Class == "reset" && e.Count != 10 {
			t.Errorf("%q: %d times", e.Message, e.Count)
		}
	}
	if each["reset"] != maxMessages {
		t.Errorf("%d examples of reset", each["reset"])
	}
	if want := strings.Repeat("語", 100) + "..."; !strings.Contains(fmt.Sprint(sum.Examples), want) {
		t.Error("the long message was not cut at a rune")
	}
}
