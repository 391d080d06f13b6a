package suite

import (
	"slices"

	"bakeoff/httpapi"
	"bakeoff/protocol"
	"bakeoff/servers/php"
)

// PHP are the subjects whose servers are programs in PHP: HTTP fronts with the calls of Data, before each backend that PHP is to call, and one that
// answers by itself. They are subjects like others wherever one is named, and run where PHP is installed.
var PHP = []protocol.Protocol{
	php.Alone("php", "HTTP as in http, by workers in PHP that answer by themselves: the one published pair, without a store and without tokens", phpHTTP),
	php.Before("php-http", "HTTP as in http, by workers in PHP that make each call of Data again to an http backend, with curl, each over one kept connection",
		phpHTTP, "php", php.HTTP, http),
	php.Before("php-grpc", "HTTP as in http, by workers in PHP that make each call of Data again to a grpc backend, with curl's HTTP/2, each over one kept connection",
		phpHTTP, "php", php.GRPC, grpc),
}

// phpHTTP is what clients of PHP speak: HTTP, without the options that its server does not have.
var phpHTTP = func() protocol.Protocol {
	p := http
	p.Knobs = slices.DeleteFunc(slices.Clone(p.Knobs), func(k protocol.Knob) bool { return k.Name != httpapi.KnobKeep })
	return p
}()
