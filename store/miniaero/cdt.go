package miniaero

import "encoding/binary"

// A list or map operation is a 16-bit code and, unless it has none, a msgpack list of its arguments. Codes from
// 64 on are of maps. The other form, a list that starts with 0xFF and a path to a nested value, is not supported.
type cdtCall struct {
	code int
	args [][]byte
}

const firstMapOp = 64

func parseCall(b []byte) (cdtCall, ResultCode) {
	if len(b) < 2 || b[0] != 0 {
		return cdtCall{}, ParameterError
	}
	call := cdtCall{code: int(binary.BigEndian.Uint16(b))}
	if len(b) == 2 {
		return call, OK
	}
	args, ok := parseList(b[2:])
	if !ok {
		return cdtCall{}, ParameterError
	}
	call.args = args
	return call, OK
}

// arg is an argument, nil when it was left out.
func (c cdtCall) arg(i int) []byte {
	if i >= len(c.args) {
		return nil
	}
	return c.args[i]
}

// int is an integer argument, or other when it was left out.
func (c cdtCall) int(i int, other int64) (int64, ResultCode) {
	if i >= len(c.args) {
		return other, OK
	}
	n, ok := decodeInt(c.args[i])
	if !ok {
		return 0, ParameterError
	}
	return n, OK
}

// has checks the number of arguments.
func (c cdtCall) has(least, most int) bool { return len(c.args) >= least && len(c.args) <= most }

// cdtRead answers an operation that reads a list or map.
func cdtRead(bin operation, b []byte) (particle, ResultCode) {
	call, code := parseCall(b)
	if code != OK {
		return particle{}, code
	}
	if call.code >= firstMapOp {
		if bin.particle != typeMap {
			return particle{}, BinTypeError
		}
		m, ok := parseMap(bin.value)
		if !ok {
			return particle{}, ParameterError
		}
		return m.read(call)
	}
	if bin.particle != typeList {
		return particle{}, BinTypeError
	}
	l, ok := parsePlainList(bin.value)
	if !ok {
		return particle{}, ParameterError
	}
	return l.read(call)
}

// cdtModify does an operation that changes a list or map, on a bin whose particle is null if there is none, and
// returns the bin's new value and the answer.
func cdtModify(bin operation, b []byte) (changed, answer particle, code ResultCode) {
	call, code := parseCall(b)
	if code != OK {
		return changed, answer, code
	}
	if call.code >= firstMapOp {
		return modifyMap(bin, call)
	}
	return modifyList(bin, call)
}

// span turns an index that may count from the end, and a count, into the part of n elements that exists. The
// index of a range that starts before the first element is moved there, and the count shortened.
func span(index, count int64, n int) (from, to int) {
	size := int64(n)
	if count <= 0 {
		return 0, 0
	}
	if index < -size {
		count += index + size
		index = -size
	}
	if index < 0 {
		index += size
	}
	if index >= size || count <= 0 {
		return 0, 0
	}
	return int(index), int(index + min(count, size-index))
}

// at turns an index that may count from the end into a place, false when there is none.
func at(index int64, n int) (int, bool) {
	if index < 0 {
		index += int64(n)
	}
	return int(index), index >= 0 && index < int64(n)
}
