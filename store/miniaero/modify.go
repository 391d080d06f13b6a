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

// applyOps does the operations in turn on the draft, and appends their answers.
func (c *session) applyOps(r *request) (nOps int, code ResultCode) {
	all := r.info2&info2RespondAll != 0
	for ops := r.ops; len(ops) > 0; {
		o, size := parseOp(ops)
		ops = ops[size:]
		n := 0
		switch o.code {
		case opTouch:
			continue
		case opRead, opCDTRead:
			n, code = c.readDraft(r, o, all)
		default:
			var value particle
			if value, code = c.draft.modify(o); code == OK && (all || value.kind != typeNull) {
				c.out = appendOp(c.out, o.code, value.kind, o.name, value.bytes)
				n = 1
			}
		}
		if code != OK {
			return 0, code
		}
		if nOps += n; nOps > 0xFFFF {
			return 0, ParameterError
		}
	}
	return nOps, OK
}

func (c *session) readDraft(r *request, o operation, all bool) (nOps int, code ResultCode) {
	if o.code == opRead && r.info1&info1NoBins != 0 {
		return 0, OK
	}
	if o.code == opRead && len(o.name) == 0 {
		for _, b := range c.draft.bins {
			c.out = appendOp(c.out, opRead, b.particle, b.name, b.value)
		}
		return len(c.draft.bins), OK
	}
	if i := c.draft.find(o.name); i >= 0 {
		return c.readOp(o, c.draft.bins[i], true, all)
	}
	return c.readOp(o, operation{}, false, all)
}

// modify does one changing operation and returns what it answers; most answer nothing.
func (d *draft) modify(o operation) (particle, ResultCode) {
	i := d.find(o.name)
	switch o.code {
	case opWrite:
		d.set(o.name, o.particle, normal(o.particle, o.value))
		return particle{}, OK
	case opDelete:
		if len(o.name) == 0 {
			d.bins = d.bins[:0]
		} else {
			d.set(o.name, typeNull, nil)
		}
		return particle{}, OK
	case opCDTModify:
		var bin operation
		if i >= 0 {
			bin = d.bins[i]
		}
		changed, value, code := cdtModify(bin, o.value)
		if code == OK {
			d.set(o.name, changed.kind, changed.bytes)
		}
		return value, code
	}
	if i < 0 {
		if !validParticle(o.particle, o.value) || o.particle == typeNull {
			return particle{}, ParameterError
		}
		if !d.fits(o) {
			return particle{}, BinTypeError
		}
		d.set(o.name, o.particle, normal(o.particle, o.value))
		return particle{}, OK
	}
	value, code := combine(d.bins[i], o)
	if code == OK {
		d.bins[i].value = value
	}
	return particle{}, code
}

// fits says whether an operation on a bin that is not there may start it with its own value.
func (d *draft) fits(o operation) bool {
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
