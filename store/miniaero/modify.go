package miniaero

import (
	"encoding/binary"
	"math"
)

// checkOps looks at a write's operations before anything is locked. touch says that one of them needs a record.
func (c *session) checkOps(r *request) (touch bool, code ResultCode) {
	if r.nOps == 0 {
		return false, ParameterError
	}
	for ops := r.ops; len(ops) > 0; {
		o, n := parseOp(ops)
		ops = ops[n:]
		if len(o.name) > maxBinName {
			return false, BinNameTooLong
		}
		switch o.code {
		case opTouch:
			touch = true
		case opRead, opCDTRead:
		case opWrite:
			if len(o.name) == 0 || r.replaces() && o.particle == typeNull || !validParticle(o.particle, o.value) {
				return false, ParameterError
			}
		case opDelete: // without a name it deletes all bins
			if r.replaces() {
				return false, ParameterError
			}
		case opIncrement, opAppend, opPrepend, opCDTModify:
			if len(o.name) == 0 || r.replaces() {
				return false, ParameterError
			}
		default:
			return false, ParameterError
		}
	}
	return touch, OK
}

// validParticle says whether a value may be stored as it is.
func validParticle(kind byte, v []byte) bool {
	switch kind {
	case typeNull:
		return true
	case typeInteger:
		_, ok := int64Particle(v)
		return ok
	case typeFloat:
		return len(v) == 8
	case typeBool:
		return len(v) == 1 && v[0] <= 1
	case typeString, typeBlob:
		return true
	case typeList:
		_, ok := parseList(v)
		return ok
	case typeMap:
		_, ok := parseMap(v)
		return ok
	}
	return false
}

// maxWork bounds the bytes of lists and maps that one request may make the server go through, for it holds a lock
// meanwhile: 256 MiB take some seconds.
const maxWork = 256 << 20

// applyOps does the operations in turn on the draft, and appends their answers. No bin may outgrow limit on the way.
func (c *session) applyOps(r *request, limit int) (nOps int, code ResultCode) {
	all := r.info2&info2RespondAll != 0
	work := 0
	for ops := r.ops; len(ops) > 0; {
		o, size := parseOp(ops)
		ops = ops[size:]
		if o.code == opTouch {
			continue
		}
		bin := c.draft.find(o.name)
		if o.code == opCDTRead || o.code == opCDTModify {
			if work += len(bin.value); work > maxWork {
				return 0, Timeout
			}
		}
		n := 0
		if o.code == opRead || o.code == opCDTRead {
			n, code = c.readDraft(r, o, bin, all)
		} else {
			n, code = c.modifyDraft(o, bin, all, limit)
		}
		if code != OK {
			return 0, code
		}
		if nOps += n; nOps > 0xFFFF || len(c.out) > 4*c.server.options.MaxMessage {
			return 0, ParameterError
		}
	}
	return nOps, OK
}

func (c *session) readDraft(r *request, o, bin operation, all bool) (nOps int, code ResultCode) {
	if o.code == opRead && r.info1&info1NoBins != 0 {
		return 0, OK
	}
	if o.code == opRead && len(o.name) == 0 {
		c.draft.each(func(b operation) { c.out = appendOp(c.out, opRead, b.particle, b.name, b.value) })
		return c.draft.live, OK
	}
	return c.readOp(o, bin, bin.particle != typeNull, all)
}

func (c *session) modifyDraft(o, bin operation, all bool, limit int) (nOps int, code ResultCode) {
	value, answer, code := modify(o, bin)
	switch {
	case code != OK:
		return 0, code
	case len(value.bytes) > limit:
		return 0, RecordTooBig
	case o.code == opDelete && len(o.name) == 0:
		c.draft.clear()
	default:
		c.draft.set(o.name, value.kind, value.bytes)
	}
	if !all && answer.kind == typeNull {
		return 0, OK
	}
	c.out = appendOp(c.out, o.code, answer.kind, o.name, answer.bytes)
	return 1, OK
}

// modify does one changing operation on a bin, whose particle is null if there is none, and returns the bin's new
// value and what is answered; most answer nothing.
func modify(o, bin operation) (value, answer particle, code ResultCode) {
	switch {
	case o.code == opWrite:
		return particle{o.particle, normal(o.particle, o.value)}, answer, OK
	case o.code == opDelete:
		return value, answer, OK
	case o.code == opCDTModify:
		return cdtModify(bin, o.value)
	case bin.particle != typeNull:
		b, code := combine(bin, o)
		return particle{bin.particle, b}, answer, code
	case !fits(o):
		return value, answer, BinTypeError
	case !validParticle(o.particle, o.value):
		return value, answer, ParameterError
	}
	return particle{o.particle, normal(o.particle, o.value)}, answer, OK
}

// fits says whether an operation on a bin that is not there may start it with its own value.
func fits(o operation) bool {
	if o.code == opIncrement {
		return o.particle == typeInteger || o.particle == typeFloat
	}
	return o.particle == typeString || o.particle == typeBlob
}

// combine adds, appends or prepends to a bin that is there.
func combine(bin, o operation) ([]byte, ResultCode) {
	if o.code == opIncrement {
		return increment(bin, o)
	}
	if bin.particle != o.particle || bin.particle != typeString && bin.particle != typeBlob {
		return nil, BinTypeError
	}
	joined := make([]byte, 0, len(bin.value)+len(o.value))
	if o.code == opPrepend {
		return append(append(joined, o.value...), bin.value...), OK
	}
	return append(append(joined, bin.value...), o.value...), OK
}

// increment adds integers, which wrap around, or adds either number to a float.
func increment(bin, o operation) ([]byte, ResultCode) {
	switch {
	case bin.particle == typeInteger && o.particle == typeInteger:
		a, _ := int64Particle(bin.value)
		b, ok := int64Particle(o.value)
		if !ok {
			return nil, ParameterError
		}
		return int64Bytes(a + b), OK
	case bin.particle == typeFloat && o.particle == typeFloat && len(o.value) == 8:
		return floatBytes(floatOf(bin.value) + floatOf(o.value)), OK
	case bin.particle == typeFloat && o.particle == typeInteger:
		b, ok := int64Particle(o.value)
		if !ok {
			return nil, ParameterError
		}
		return floatBytes(floatOf(bin.value) + float64(b)), OK
	}
	return nil, BinTypeError
}

func floatOf(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) }

func floatBytes(f float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(f)) }

// normal is the form in which a value is kept: integers in eight bytes.
func normal(kind byte, v []byte) []byte {
	if kind == typeInteger && len(v) != 8 {
		n, _ := int64Particle(v)
		return int64Bytes(n)
	}
	return v
}
