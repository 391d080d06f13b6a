package httpserver

// ServeDraining is Serve with another patience.
var ServeDraining = serve
