package aerospike

import (
	"errors"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"bakeoff/service"
)

// The outcome classes of a store's failures.
const (
	ClassUnavailable = "store_unavailable" // it can't be reached, or the connection broke in the middle
	ClassTimeout     = "store_timeout"     // it was asked and did not answer in time
	ClassPool        = "store_pool"        // more calls than connections, for as long as the timeout
	ClassHotKey      = "store_hot_key"     // too many calls for one record
	ClassOverload    = "store_overload"    // its device can't keep up
	ClassFull        = "store_full"        // it is out of memory or disk
	ClassTooBig      = "store_too_big"     // the record is over its limit
	ClassRefused     = "store_refused"     // it does not do that; the configuration or our code is wrong
	ClassClosed      = "store_closed"      // Close was called
)

// translate makes what the service knows of an error of the client. lost says that a connection broke or none could
// be had, so that it may be time to look whether the server is there.
func (s *Store) translate(operation string, err as.Error) (out error, lost bool) {
	code, server := cause(err)
	if server {
		switch code {
		case types.KEY_NOT_FOUND_ERROR:
			return service.ErrNotFound, false
		case types.KEY_EXISTS_ERROR:
			return service.ErrExists, false
		case types.GENERATION_ERROR:
			return service.ErrGeneration, false
		}
	}
	switch code {
	case types.TIMEOUT:
		return s.failed(service.DeadlineExceeded, ClassTimeout, operation, "no answer from "+s.addr.hostPort()+" in time"), false
	case types.KEY_BUSY:
		return s.failed(service.ResourceExhausted, ClassHotKey, operation, "too many calls for one record"), false
	case types.DEVICE_OVERLOAD:
		return s.failed(service.ResourceExhausted, ClassOverload, operation, "the database's device is overloaded"), false
	case types.SERVER_MEM_ERROR:
		return s.failed(service.ResourceExhausted, ClassFull, operation, "the namespace "+s.addr.namespace+" is full"), false
	case types.RECORD_TOO_BIG:
		return s.failed(service.ResourceExhausted, ClassTooBig, operation, "the record is larger than the database allows"), false
	case types.FAIL_FORBIDDEN:
		return s.failed(service.Internal, ClassRefused, operation, "forbidden by the database; if the record has a ttl, the namespace "+s.addr.namespace+" needs nsup-period to be set"), false
	case types.BIN_TYPE_ERROR:
		return s.failed(service.Internal, ClassRefused, operation, "the bin holds a value of another type"), false
	}
	if code < 0 && code != types.SERIALIZE_ERROR && code != types.PARSE_ERROR {
		return s.failed(service.Unavailable, ClassUnavailable, operation, "no connection to "+s.addr.hostPort()+": "+root(err)), true
	}
	return s.failed(service.Internal, ClassRefused, operation, root(err)), false
}

// cause is the code that a call failed for, and whether the server gave it. The client wraps errors newest first:
// around the true one it puts that there are no retries left, or, when the time was spent waiting for a connection
// that could not be opened, that it timed out.
func cause(err as.Error) (code types.ResultCode, server bool) {
	var codes []types.ResultCode
	for e := error(err); e != nil; e = errors.Unwrap(e) {
		if ae, ok := e.(*as.AerospikeError); ok {
			codes = append(codes, ae.ResultCode)
		}
	}
	switch {
	case len(codes) == 0:
		return types.COMMON_ERROR, false
	case len(codes) == 1:
		return codes[0], codes[0] > 0
	case codes[0] == types.MAX_RETRIES_EXCEEDED:
		return codes[1], codes[1] > 0
	case codes[0] == types.TIMEOUT && codes[1] < 0:
		return codes[1], false
	}
	return codes[0], codes[0] > 0
}

// root is the text of the innermost error, without the client's chain around it.
func root(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	if ae, ok := err.(*as.AerospikeError); ok {
		return types.ResultCodeToString(ae.ResultCode)
	}
	return err.Error()
}
