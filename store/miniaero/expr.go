package miniaero

// Codes of filter expressions that are supported; the others are answered with ParameterError.
const (
	exprEqual        = 1
	exprNotEqual     = 2
	exprGreater      = 3
	exprGreaterEqual = 4
	exprLess         = 5
	exprLessEqual    = 6
	exprAnd          = 16
	exprOr           = 17
	exprNot          = 18
	exprBin          = 81
	exprBinType      = 82
)

// filter says with which code a record passes a filter expression: OK, FilteredOut, or ParameterError for an
// expression that can't be understood.
func (c *session) filter(expression []byte, r *record) ResultCode {
	if valueLength(expression) != len(expression) {
		return ParameterError
	}
	value, ok := evaluate(expression, r)
	switch {
	case !ok:
		return ParameterError
	case len(value) == 1 && value[0] == 0xC3:
		return OK
	}
	return FilteredOut
}

func truth(b bool) []byte { return []byte{0xC2 + boolByte(b)} }

// evaluate computes an expression, a whole value of bounded depth. A nil value is unknown, as of a bin that is not
// there; false is an expression that can't be understood.
func evaluate(e []byte, r *record) ([]byte, bool) {
	h, _ := headOf(e)
	if h.rank != rankList {
		return e, true
	}
	args, ok := parseList(e)
	if !ok || len(args) == 0 {
		return nil, false
	}
	code, ok := decodeInt(args[0])
	if !ok {
		return nil, false
	}
	switch code {
	case exprEqual, exprNotEqual, exprGreater, exprGreaterEqual, exprLess, exprLessEqual:
		return compareTwo(code, args[1:], r)
	case exprAnd, exprOr:
		return combineAll(code == exprAnd, args[1:], r)
	case exprNot:
		if len(args) != 2 {
			return nil, false
		}
		v, ok := evaluate(args[1], r)
		if !ok || v == nil {
			return nil, ok
		}
		return truth(v[0] != 0xC3), v[0] == 0xC2 || v[0] == 0xC3
	case exprBin:
		return binValue(args, r)
	case exprBinType:
		if len(args) != 2 {
			return nil, false
		}
		bin, _ := r.bin(rawText(args[1]))
		return encodeInt(int64(bin.particle)), true
	}
	return nil, false
}

func compareTwo(code int64, args [][]byte, r *record) ([]byte, bool) {
	if len(args) != 2 {
		return nil, false
	}
	a, okA := evaluate(args[0], r)
	b, okB := evaluate(args[1], r)
	if !okA || !okB {
		return nil, false
	}
	if a == nil || b == nil {
		return nil, true
	}
	d := compare(a, b)
	return truth(map[int64]bool{
		exprEqual: d == 0, exprNotEqual: d != 0, exprGreater: d > 0, exprGreaterEqual: d >= 0,
		exprLess: d < 0, exprLessEqual: d <= 0,
	}[code]), true
}

// combineAll is and, or or: known as soon as one of them decides, else unknown if any is.
func combineAll(and bool, args [][]byte, r *record) ([]byte, bool) {
	known := true
	for _, a := range args {
		v, ok := evaluate(a, r)
		switch {
		case !ok:
			return nil, false
		case v == nil:
			known = false
		case v[0] != 0xC2 && v[0] != 0xC3:
			return nil, false
		case (v[0] == 0xC3) != and:
			return truth(!and), true
		}
	}
	if !known {
		return nil, true
	}
	return truth(and), true
}

// The types that an expression may take a bin for, and the particles that they mean.
var exprTypes = map[int64]byte{1: typeBool, 2: typeInteger, 3: typeString, 4: typeList, 5: typeMap, 6: typeBlob, 7: typeFloat}

// binValue is a bin as an expression's value, unknown when it is not there or of another type.
func binValue(args [][]byte, r *record) ([]byte, bool) {
	if len(args) != 3 {
		return nil, false
	}
	kind, ok := decodeInt(args[1])
	want, known := exprTypes[kind]
	if !ok || !known {
		return nil, false
	}
	bin, found := r.bin(rawText(args[2]))
	if !found || bin.particle != want {
		return nil, true
	}
	return element(particle{bin.particle, bin.value}), true
}

// rawText is a string that has no particle type before it, as names in expressions.
func rawText(b []byte) []byte {
	h, _ := headOf(b)
	return b[h.size : h.size+h.payload]
}

// element is the value of a bin as an element: the reverse of particleOf.
func element(p particle) []byte {
	switch p.kind {
	case typeInteger:
		n, _ := int64Particle(p.bytes)
		return encodeInt(n)
	case typeFloat:
		return encodeFloat(floatOf(p.bytes))
	case typeBool:
		return truth(p.bytes[0] != 0)
	case typeList, typeMap:
		return p.bytes
	}
	return encodeRaw(p.kind, p.bytes)
}
