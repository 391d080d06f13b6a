package grpcclient

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"bakeoff/protocol"
)

// protection is TLS by that config, or none for nil. Why a handshake failed goes into failed.
func protection(c *tls.Config, failed *atomic.Pointer[error]) credentials.TransportCredentials {
	if c == nil {
		return insecure.NewCredentials()
	}
	return &secure{credentials.NewTLS(c), c.ServerName, failed}
}

// secure is the library's TLS with two differences. The certificate is held against a name of its own, where the library
// takes the requests' authority for both; and why a handshake failed is kept, since statuses tell it in words alone.
type secure struct {
	credentials.TransportCredentials
	name   string
	failed *atomic.Pointer[error]
}

func (s *secure) ClientHandshake(ctx context.Context, _ string, socket net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := s.TransportCredentials.ClientHandshake(ctx, s.name, socket)
	if err != nil {
		err = protocol.HandshakeFault(err, s.name)
		s.failed.Store(&err)
	}
	return secured, info, err
}

// Info leaves the name out: the library would take it for the authority.
func (s *secure) Info() credentials.ProtocolInfo {
	info := s.TransportCredentials.Info()
	//lint:ignore SA1019 deprecated, and set by the library's own TLS all the same: it must not become the authority
	info.ServerName = ""
	return info
}

func (s *secure) Clone() credentials.TransportCredentials {
	return &secure{s.TransportCredentials.Clone(), s.name, s.failed}
}
