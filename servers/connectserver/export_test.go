package connectserver

// ServeDraining is Serve with another bound on the drain.
var ServeDraining = serve
