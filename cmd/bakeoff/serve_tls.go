package main

import (
	"errors"

	"github.com/spf13/pflag"

	"bakeoff/protocol"
)

// serveTLSFlags have a server speak TLS.
type serveTLSFlags struct{ cert, key, clientCA string }

func (f *serveTLSFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.cert, "tls-cert", "", "speak TLS, with the certificate in this `file` ('bakeoff certs' makes some)")
	flags.StringVar(&f.key, "tls-key", "", "`file` with the key of --tls-cert")
	flags.StringVar(&f.clientCA, "client-ca", "", "ask each client for a certificate that the CA in this `file` has signed")
}

// options are nil for a plain server.
func (f serveTLSFlags) options() (*protocol.TLS, error) {
	switch {
	case f == serveTLSFlags{}:
		return nil, nil
	case f.cert == "" && f.key == "":
		return nil, errors.New("--client-ca: a server without TLS sees no certificates: give --tls-cert and --tls-key, too")
	case f.cert == "":
		return nil, errors.New("--tls-key: give the certificate of this key, too: --tls-cert")
	case f.key == "":
		return nil, errors.New("--tls-cert: give the key of this certificate, too: --tls-key")
	}
	return &protocol.TLS{Cert: f.cert, Key: f.key, ClientCA: f.clientCA}, nil
}

// overTLS is what a server says of itself when it listens.
func overTLS(o protocol.Options) string {
	switch {
	case o.TLS == nil:
		return ""
	case o.TLS.ClientCA != "":
		return " over TLS, for clients with a certificate"
	}
	return " over TLS"
}
