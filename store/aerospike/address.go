package aerospike

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Scheme starts every address of this store.
const Scheme = "aerospike"

// DefaultPort is the port that an address means when it names none.
const DefaultPort = 3000

// address is where a store is: a host, a port, a namespace.
type address struct {
	host      string
	port      int
	namespace string
}

func (a address) hostPort() string { return net.JoinHostPort(a.host, strconv.Itoa(a.port)) }

// CheckAddress says what is wrong with the address of a store, which should be aerospike://host[:port]/namespace; nothing is looked up
// or connected to. Open fails with the same error.
func CheckAddress(text string) error {
	_, err := parseAddress(text)
	return err
}

// HostPort is where the address of a store leads, as Describe tells it; "" for what is no such address.
func HostPort(text string) string {
	a, err := parseAddress(text)
	if err != nil {
		return ""
	}
	return a.hostPort()
}

// parseAddress reads aerospike://host[:port]/namespace. Its errors name the address and what to write instead.
func parseAddress(text string) (address, error) {
	bad := func(format string, args ...any) (address, error) {
		return address{}, fmt.Errorf("store address %q: %s; write %s://host:port/namespace", text, fmt.Sprintf(format, args...), Scheme)
	}
	u, err := url.Parse(text)
	if err != nil {
		if ue, ok := err.(*url.Error); ok {
			err = ue.Err // without the text, which is said already
		}
		return bad("%v", err)
	}
	namespace := strings.TrimPrefix(u.Path, "/")
	a := address{host: u.Hostname(), port: DefaultPort, namespace: namespace}
	switch {
	case u.Scheme != Scheme || u.Opaque != "":
		return bad("it does not start with %s://", Scheme)
	case a.host == "":
		return bad("it names no host")
	case u.User != nil:
		return bad("user and password are not supported")
	case u.RawQuery != "" || u.Fragment != "":
		return bad("there is nothing to follow the namespace")
	case namespace == "":
		return bad("it names no namespace (a fresh server has %q)", "test")
	case strings.Contains(namespace, "/"):
		return bad("a namespace has no slash")
	case len(namespace) > 31:
		return bad("a namespace has at most 31 bytes")
	}
	if p := u.Port(); p != "" {
		if a.port, err = strconv.Atoi(p); err != nil || a.port < 1 || a.port > 65535 {
			return bad("port %s is not between 1 and 65535", p)
		}
	}
	return a, nil
}
