//go:build !linux

package miniaero

import "net"

// quick does nothing here.
func quick(c net.Conn) net.Conn { return c }
