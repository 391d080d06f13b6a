package protocol

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// handshakeLimit bounds a client's handshake where its context does not: a server that waits for plain requests may
// wait for the rest of one for ever. It is as long as a socket's dialling is given by default.
const handshakeLimit = 5 * time.Second

// Secure shakes hands on a client's socket; a nil config leaves it plain. On an error the socket is closed, and the error
// is the context's own or a Fault that says what to mend.
func Secure(ctx context.Context, socket net.Conn, c *tls.Config) (net.Conn, error) {
	if c == nil {
		return socket, nil
	}
	return secure(ctx, socket, c, handshakeLimit)
}

func secure(ctx context.Context, socket net.Conn, c *tls.Config, limit time.Duration) (net.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	secured := tls.Client(socket, c)
	if err := secured.HandshakeContext(limited); err != nil {
		_ = socket.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, HandshakeFault(err, c.ServerName)
	}
	return secured, nil
}

// HandshakeFault says why a client's handshake with a server of that name failed, and what mends it.
func HandshakeFault(err error, name string) *Fault {
	return &Fault{Kind: BadTLS, Err: fmt.Errorf("%s: %w", handshakeWords(err, name), err)}
}

func handshakeWords(err error, name string) string {
	var (
		plain   tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		other   x509.HostnameError
		socket  *net.OpError
	)
	switch {
	case errors.As(err, &plain):
		return "the server answered a TLS handshake in plain words: leave --tls away, or serve with --tls-cert and --tls-key"
	case errors.As(err, &unknown):
		return "the server's certificate is signed by no CA that is trusted here: give the CA's own certificate (--tls-ca)"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the server's certificate is valid from %s to %s, which is not now: serve with a new one ('bakeoff certs DIR --force'), or set the clock",
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339))
	case errors.As(err, &other):
		return fmt.Sprintf("the server's certificate is for %s and not for %s: name one of those (--tls-server-name), or make a certificate for it ('bakeoff certs DIR --host %s')",
			namesOf(other.Certificate), name, name)
	case errors.Is(err, errNoCertificate):
		return "the server asks for a client's certificate: give one (--client-cert and --client-key)"
	case errors.Is(err, errOtherCA):
		return "the server asks for a client's certificate of a CA that has not signed ours: give one of that CA (--client-cert and --client-key)"
	case errors.As(err, &socket) && socket.Op == remoteError:
		return "the server refused the TLS handshake"
	case errors.Is(err, context.DeadlineExceeded):
		return "the server did not go on with the TLS handshake in time: does it speak TLS? if not, leave --tls away"
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE):
		return "the server hung up in the TLS handshake: does it speak TLS? if not, leave --tls away"
	}
	return "the TLS handshake failed"
}

// remoteError is the Op of a net.OpError around what a peer told by an alert of TLS.
const remoteError = "remote error"

// Alert says whether err is what the server told by an alert of TLS, as when it refuses the client's certificate after the
// client's side of the handshake has ended.
func Alert(err error) bool {
	var socket *net.OpError
	return errors.As(err, &socket) && socket.Op == remoteError
}

// SpeaksTLS asks whether the server at addr answers a handshake. It is for the client of plain calls that were not
// answered, to find out why; any certificate will do.
func SpeaksTLS(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	socket, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer socket.Close()
	// Nobody is trusted, so that no certificate is taken: to have been shown one is enough.
	err = tls.Client(socket, &tls.Config{ServerName: "localhost", RootCAs: x509.NewCertPool()}).HandshakeContext(ctx)
	var shown *tls.CertificateVerificationError
	return err == nil || errors.As(err, &shown) || Alert(err)
}

// PlainToTLS is the fault of a plain client whose server SpeaksTLS; err is what its call failed with.
func PlainToTLS(err error) *Fault {
	return &Fault{Kind: BadTLS, Err: fmt.Errorf("the server speaks TLS, and this client does not: call with --tls, or serve without --tls-cert: %w", err)}
}

// namesOf are the names that a certificate is for.
func namesOf(c *x509.Certificate) string {
	names := append([]string{}, c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no name"
	}
	return strings.Join(names, ", ")
}
