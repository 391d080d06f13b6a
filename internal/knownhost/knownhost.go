// Package knownhost keeps pages of elsewhere from what listens on this machine.
package knownhost

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Handler answers only requests for an address, for localhost, or for a name that the listener was told is its own. A page in
// somebody's browser can let a name of its own point here (DNS rebinding) and would then read the answers, but it can't change the name
// that the browser sends. Requests that change something are refused to pages of other origins as well.
func Handler(names []string, next http.Handler) http.Handler {
	next = http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := hostOf(r.Host)
		if _, err := netip.ParseAddr(name); err == nil || name == "localhost" || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			next.ServeHTTP(w, r)
			return
		}
		http.Error(w, fmt.Sprintf("%.100q is no name of this listener: use its address, or start it with that name allowed", name), http.StatusMisdirectedRequest)
	})
}

// hostOf is a Host header without the port and without the brackets of IPv6.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return strings.TrimSuffix(strings.ToLower(name), ".")
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}
