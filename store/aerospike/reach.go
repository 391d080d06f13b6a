package aerospike

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// Reach is what a server's node says of where it is, against what can be reached from here. A client of a cluster
// connects to the addresses that are advertised, whatever address it was given.
type Reach struct {
	Asked string // the address that was given
	// Advertised are the node's own addresses, Peers those of the other nodes.
	Advertised, Peers []string
	// Unreachable says of each of them why no connection is had; absent for those that can be reached.
	Unreachable map[string]string
}

// Matches says that the address that was given is one of those that are advertised.
func (r Reach) Matches() bool { return slices.Contains(r.Advertised, r.Asked) }

// Examine asks the node at aerospike://host:port/namespace for its addresses and tries each, for at most the timeout in all. The error is that the
// address is wrong, that no node answers there, or that it does not have the namespace (ErrNamespace).
func Examine(ctx context.Context, text string, timeout time.Duration) (Reach, error) {
	a, err := parseAddress(text)
	if err != nil {
		return Reach{}, err
	}
	r := Reach{Asked: a.hostPort(), Unreachable: map[string]string{}}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := try(ctx, r.Asked); err != nil { // the client's own error does not name the reason
		return r, fmt.Errorf("store %s: %w", a, err)
	}
	policy := as.NewClientPolicy()
	policy.Timeout = timeout
	conn, cerr := as.NewConnection(policy, as.NewHost(a.host, a.port))
	if cerr != nil {
		return r, fmt.Errorf("store %s: %s", a, root(cerr))
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetTimeout(deadline, timeout); err != nil {
		return r, fmt.Errorf("store %s: %s", a, root(err))
	}
	info, cerr := conn.RequestInfo("service-clear-std", "peers-clear-std", "namespaces")
	if cerr != nil {
		return r, fmt.Errorf("store %s: what listens there does not answer as an Aerospike server: %s", a, root(cerr))
	}
	if err := a.checkNamespace(info["namespaces"]); err != nil {
		return r, err
	}
	r.Advertised, r.Peers = addresses(info["service-clear-std"]), peers(info["peers-clear-std"])
	for _, addr := range slices.Concat(r.Advertised, r.Peers) {
		if err := try(ctx, addr); err != nil {
			r.Unreachable[addr] = err.Error()
		}
	}
	return r, nil
}

func try(ctx context.Context, addr string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	return conn.Close()
}

// addresses reads "10.0.0.1:3000,[::1]:3000"; what is no address is left out.
func addresses(list string) []string {
	var all []string
	for addr := range strings.SplitSeq(list, ",") {
		if host, port, err := net.SplitHostPort(strings.TrimSpace(addr)); err == nil && host != "" && port != "" {
			all = append(all, net.JoinHostPort(host, port))
		}
	}
	return all
}

// endpoints are the innermost lists of peers-clear-std that follow a node's name and TLS name.
var endpoints = regexp.MustCompile(`\[([^,\[\]]*),([^,\[\]]*),\[((?:\[[^\]]*\]|[^\[\]])*)\]\]`)

// peers reads "GENERATION,PORT,[[NODE,TLS,[HOST[:PORT],...]],...]": where no port is named it is the one in front.
func peers(text string) []string {
	parts := strings.SplitN(text, ",", 3)
	if len(parts) < 3 {
		return nil
	}
	port := parts[1]
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		port = strconv.Itoa(DefaultPort)
	}
	var all []string
	for _, node := range endpoints.FindAllStringSubmatch(parts[2], -1) {
		for host := range strings.SplitSeq(node[3], ",") {
			host = strings.TrimSpace(host)
			if _, _, err := net.SplitHostPort(host); err != nil && host != "" {
				host = net.JoinHostPort(strings.Trim(host, "[]"), port)
			}
			if _, _, err := net.SplitHostPort(host); err == nil { // else it is no address, whatever it is
				all = append(all, host)
			}
		}
	}
	return all
}
