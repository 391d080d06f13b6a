package miniaero

// ResultCode is the byte with which a server answers an operation.
type ResultCode byte

// The codes that this server gives, with the meaning that a real one gives them. A Fault may use any other.
const (
	OK               ResultCode = 0
	NotFound         ResultCode = 2
	GenerationError  ResultCode = 3
	ParameterError   ResultCode = 4
	RecordExists     ResultCode = 5
	OutOfSpace       ResultCode = 8
	Timeout          ResultCode = 9
	BinTypeError     ResultCode = 12
	RecordTooBig     ResultCode = 13
	KeyBusy          ResultCode = 14
	DeviceOverload   ResultCode = 18
	KeyMismatch      ResultCode = 19
	UnknownNamespace ResultCode = 20
	BinNameTooLong   ResultCode = 21
	Forbidden        ResultCode = 22
	ElementNotFound  ResultCode = 23
	ElementExists    ResultCode = 24
	EnterpriseOnly   ResultCode = 25
	NotApplicable    ResultCode = 26
	FilteredOut      ResultCode = 27
	IndexNotFound    ResultCode = 201

	udfError ResultCode = 100
)
