package nethttpserver

// ServeDraining is either Serve with another patience.
var ServeDraining = serve
