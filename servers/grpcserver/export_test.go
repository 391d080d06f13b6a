package grpcserver

// ServeDraining is Serve with another bound on the drain and the handshake.
var ServeDraining = serve
