package conformance

import (
	"slices"

	"bakeoff/protocol"
	"bakeoff/service"
)

// probeVector comes first: without the probe nothing else can be asked.
const probeVector = "probe"

// Vectors are all the vectors, in the order in which they run.
var Vectors = slices.Concat(dataVectors, authVectors, sizeVectors, timeVectors, connVectors, routeVectors, streamVectors)

// Calls are those that the vector makes. The login before it is none of them: where there is no Login, there is none.
func (v Vector) Calls() []service.Call {
	if calls, ok := callsOf[v.Name]; ok {
		return calls
	}
	return []service.Call{service.CallDataType} // for answers that Probe plants there, as most do
}

// callsOf are those of the vectors that make others. That they are these, a test finds out.
var callsOf = map[string][]service.Call{
	"hit":             {service.CallKnown},
	"login":           {service.CallLogin, service.CallKnown},
	"login-refused":   {service.CallLogin},
	"token-refused":   {service.CallLogin, service.CallKnown},
	"token-expired":   {service.CallLogin, service.CallDataType},
	"refused":         {},
	"unknown-option":  {},
	"bytes":           {service.CallEcho},
	"bytes-payload":   {service.CallEcho, service.CallDataType},
	"bytes-too-large": {service.CallEcho, service.CallDataType},
	"deadline-stream": {service.CallListFeatures, service.CallDataType},
	"feature":         {service.CallGetFeature, service.CallListFeatures, service.CallRecordRoute, service.CallRouteChat},
	"rectangle":       {service.CallListFeatures},
	"distance":        {service.CallRecordRoute},
	"chat":            {service.CallRouteChat},
	"zeros":           {service.CallRecordRoute, service.CallRouteChat},
	"list":            {service.CallListFeatures},
	"record":          {service.CallRecordRoute},
	"exchange":        {service.CallRouteChat},
	"stream-error":    {service.CallListFeatures, service.CallDataType},
	"input-error":     {service.CallRecordRoute, service.CallRouteChat, service.CallDataType},
	"stop-early":      {service.CallListFeatures, service.CallRouteChat, service.CallDataType},
	"stream-cancel":   {service.CallListFeatures, service.CallDataType},
}

// Asked are those of the vectors that make only calls which the subject has.
func Asked(subject protocol.Protocol, vectors []Vector) []Vector {
	return slices.DeleteFunc(slices.Clone(vectors), func(v Vector) bool { return len(subject.Lacks(v.Calls())) > 0 })
}
