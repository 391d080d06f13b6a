package miniaero_test

import (
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"bakeoff/store/miniaero"
)

// connect dials a server with the real client, whose first and only attempt must do.
func connect(t testing.TB, addr string, conns int) *as.Client {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	p := as.NewClientPolicy()
	p.Timeout = 5 * time.Second
	p.ConnectionQueueSize = conns
	p.MinConnectionsPerNode = min(conns, 4)
	p.MaxErrorRate = 0
	client, aerr := as.NewClientWithPolicy(p, host, n)
	if aerr != nil {
		t.Fatalf("connect to %s: %v", addr, aerr)
	}
	t.Cleanup(client.Close)
	return client
}

func key(t testing.TB, set string, id any) *as.Key {
	t.Helper()
	k, err := as.NewKey("test", set, id)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestThinSlice(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 16)
	k := key(t, "demo", "a")
	if err := c.Put(nil, k, as.BinMap{"s": "hello", "i": 42}); err != nil {
		t.Fatal(err)
	}
	rec, err := c.Operate(nil, k, as.ListAppendOp("l", "x"), as.ListAppendOp("l", "y"), as.ListTrimOp("l", -1, 1), as.GetBinOp("l"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(rec.Bins["l"]), "[1 2 1 [y]]"; got != want {
		t.Errorf("append, append, trim, get answered %s, want %s", got, want)
	}
	all, err := c.BatchGet(nil, []*as.Key{k, key(t, "demo", "none"), k})
	if err != nil {
		t.Fatal(err)
	}
	if all[0] == nil || all[1] != nil || all[2] == nil || all[2].Bins["i"] != 42 || all[2].Generation != 2 {
		t.Errorf("batch answered %v, want the record, nothing, the record", all)
	}
}
