package service

// Call names one call of the API: what a server has, and what asks for it.
type Call string

// The calls, by the names of their methods. CallKnown is the part of DataType that a server without rules and without a store can answer, too.
const (
	CallLogin        Call = "Login"
	CallDataType     Call = "DataType"
	CallKnown        Call = "DataType of the published pair"
	CallEcho         Call = "Echo"
	CallGetFeature   Call = "GetFeature"
	CallListFeatures Call = "ListFeatures"
	CallRecordRoute  Call = "RecordRoute"
	CallRouteChat    Call = "RouteChat"
)
