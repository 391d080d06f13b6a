package aerospike

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"bakeoff/store/miniaero"
)

// refused is an address at which nobody listens any more.
func refused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestExamine(t *testing.T) {
	nobody := refused(t)
	own := miniaero.RunT(t)
	r, err := Examine(t.Context(), "aerospike://"+own.Addr()+"/test", 5*time.Second)
	if err != nil || !r.Matches() || !slices.Equal(r.Advertised, []string{own.Addr()}) || len(r.Unreachable) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	// The classic of Docker: the node advertises an address of its own network.
	lost := miniaero.RunT(t, miniaero.Options{Advertise: []string{nobody}})
	r, err = Examine(t.Context(), "aerospike://"+lost.Addr()+"/test", 5*time.Second)
	if err != nil || r.Matches() || !slices.Equal(r.Advertised, []string{nobody}) || !strings.Contains(r.Unreachable[nobody], "refused") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Examine(t.Context(), "aerospike://"+nobody+"/test", 5*time.Second); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
	if _, err := Examine(t.Context(), "aerospike://"+own.Addr()+"/nosuch", 5*time.Second); !errors.Is(err, ErrNamespace) || !strings.Contains(err.Error(), `no namespace "nosuch", it has test`) {
		t.Errorf("%v", err)
	}
	if _, err := Examine(t.Context(), "http://db", 5*time.Second); err == nil || !strings.Contains(err.Error(), "aerospike://host:port/namespace") {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	for _, row := range []struct {
		read       func(string) []string
		text, want string
	}{
		{addresses, "10.0.0.1:3000,[::1]:3000", "10.0.0.1:3000 [::1]:3000"},
		{addresses, "", ""},
		{addresses, "ERROR:4:unrecognized command", ""},
		{addresses, " db:3000 ", "db:3000"},
		{peers, "5,3000,[]", ""},
		{peers, "5,3000,[[BB9,,[10.0.0.2:3100]]]", "10.0.0.2:3100"},
		{peers, "5,3000,[[BB9,,[10.0.0.2]],[BC1,name,[db,[::2]:3001,[::3]]]]", "10.0.0.2:3000 db:3000 [::2]:3001 [::3]:3000"},
		{peers, "5,,[[BB9,,[10.0.0.2]]]", "10.0.0.2:3000"}, // no port in front: the default
		{peers, "ERROR", ""},
	} {
		if got := strings.Join(row.read(row.text), " "); got != row.want {
			t.Errorf("%q: %q, want %q", row.text, got, row.want)
		}
	}
}

// Whatever a server says, what is read of it are addresses.
func FuzzPeers(f *testing.F) {
	for _, s := range []string{"5,3000,[[BB9,,[10.0.0.2]],[BC1,name,[db,[::2]:3001,[::3]]]]", "1,2,[[", "1,,[[a,b,[c]]]", "10.0.0.1:3000,[::1]:3000", ":,::1:,[]:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, addr := range slices.Concat(addresses(text), peers(text)) {
			if _, _, err := net.SplitHostPort(addr); err != nil {
				t.Errorf("%q of %q: %v", addr, text, err)
			}
		}
	})
}
