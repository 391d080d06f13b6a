package conformance

var Local = local
