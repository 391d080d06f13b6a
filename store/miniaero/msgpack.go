package miniaero

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
)

// Lists and maps are msgpack, in which Aerospike puts a particle type before the bytes of each string and blob,
// and marks an ordered map by an extension as its first key. Here they stay encoded: an element is the slice that
// holds it.

// rank is the place of a type in the order of all values.
type rank byte

const (
	rankNil rank = iota + 1
	rankBool
	rankInt
	rankString
	rankList
	rankMap
	rankBlob
	rankFloat
	rankGeo
	rankExt
)

// maxDepth is how deep values may be nested, so that comparing them can't exhaust a stack.
const maxDepth = 64

// head is what the first bytes of a value say.
type head struct {
	rank     rank
	size     int // bytes of the head itself
	payload  int // bytes behind it that are no values
	children int // values behind it
	extType  byte
}

// headOf reads the head of the value at the start of b. Its payload lies within b; its children may not.
func headOf(b []byte) (head, bool) {
	if len(b) == 0 {
		return head{}, false
	}
	h := head{size: 1}
	switch t := b[0]; {
	case t <= 0x7F, t >= 0xE0:
		h.rank = rankInt
	case t <= 0x8F:
		h.rank, h.children = rankMap, 2*int(t&0x0F)
	case t <= 0x9F:
		h.rank, h.children = rankList, int(t&0x0F)
	case t <= 0xBF:
		h.rank, h.payload = rankString, int(t&0x1F)
	case t == 0xC0:
		h.rank = rankNil
	case t == 0xC2, t == 0xC3:
		h.rank = rankBool
	case t == 0xCA:
		h.rank, h.payload = rankFloat, 4
	case t == 0xCB:
		h.rank, h.payload = rankFloat, 8
	case t >= 0xCC && t <= 0xCF:
		h.rank, h.payload = rankInt, 1<<(t-0xCC)
	case t >= 0xD0 && t <= 0xD3:
		h.rank, h.payload = rankInt, 1<<(t-0xD0)
	case t >= 0xD4 && t <= 0xD8: // the extension's type, then 1, 2, 4, 8 or 16 bytes
		h.rank, h.size, h.payload = rankExt, 2, 1<<(t-0xD4)
	default:
		if !h.sized(b) {
			return head{}, false
		}
	}
	if len(b) < h.size || h.payload > len(b)-h.size {
		return head{}, false
	}
	if h.rank == rankExt {
		h.extType = b[h.size-1]
	}
	if h.rank == rankString && h.payload > 0 {
		switch b[h.size] {
		case typeBlob, typeHLL:
			h.rank = rankBlob
		case typeGeoJSON:
			h.rank = rankGeo
		}
	}
	return h, true
}

// sized reads a head whose length follows in 1, 2 or 4 bytes.
func (h *head) sized(b []byte) bool {
	var width int
	switch b[0] {
	case 0xC4, 0xC7, 0xD9:
		width = 1
	case 0xC5, 0xC8, 0xDA, 0xDC, 0xDE:
		width = 2
	case 0xC6, 0xC9, 0xDB, 0xDD, 0xDF:
		width = 4
	default:
		return false
	}
	if len(b) < 1+width {
		return false
	}
	n := 0
	for _, c := range b[1 : 1+width] {
		n = n<<8 | int(c)
	}
	h.size = 1 + width
	switch b[0] {
	case 0xC4, 0xC5, 0xC6:
		h.rank, h.payload = rankBlob, n
	case 0xC7, 0xC8, 0xC9:
		h.rank, h.payload, h.size = rankExt, n, h.size+1
	case 0xD9, 0xDA, 0xDB:
		h.rank, h.payload = rankString, n
	case 0xDC, 0xDD:
		h.rank, h.children = rankList, n
	default:
		h.rank, h.children = rankMap, 2*n
	}
	return true
}

// valueLength is the length of the value at the start of b with all that is in it, 0 if it is not whole, not
// msgpack, or nested too deep. It takes no memory whatever the heads promise.
func valueLength(b []byte) int {
	var left [maxDepth]int // values still to come, by depth
	depth, at := 0, 0
	left[0] = 1
	for {
		for left[depth] == 0 {
			if depth--; depth < 0 {
				return at
			}
		}
		left[depth]--
		h, ok := headOf(b[at:])
		if !ok {
			return 0
		}
		at += h.size + h.payload
		if h.children == 0 {
			continue
		}
		if depth++; depth == maxDepth || h.children > len(b)-at {
			return 0
		}
		left[depth] = h.children
	}
}

// elements splits n values at the start of b, which must be all of it.
func elements(b []byte, n int) ([][]byte, bool) {
	if n > len(b) {
		return nil, false
	}
	all := make([][]byte, 0, n)
	for range n {
		size := valueLength(b)
		if size == 0 {
			return nil, false
		}
		all = append(all, b[:size:size])
		b = b[size:]
	}
	return all, len(b) == 0
}

// parseList splits a list into its elements. Ordered lists, which begin with an extension, are split too.
func parseList(b []byte) ([][]byte, bool) {
	h, ok := headOf(b)
	if !ok || h.rank != rankList {
		return nil, false
	}
	return elements(b[h.size:], h.children)
}

func appendCount(b []byte, n int, small, wide byte) []byte {
	switch {
	case n < 16:
		return append(b, small|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, wide), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, wide+1), uint32(n))
}

func encodeList(all [][]byte) []byte {
	size := 5
	for _, e := range all {
		size += len(e)
	}
	b := appendCount(make([]byte, 0, size), len(all), 0x90, 0xDC)
	for _, e := range all {
		b = append(b, e...)
	}
	return b
}

func encodeInt(n int64) []byte {
	switch {
	case n >= -32 && n <= 127:
		return []byte{byte(n)}
	case n >= 0 && n <= math.MaxUint8:
		return []byte{0xCC, byte(n)}
	case n >= 0 && n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16([]byte{0xCD}, uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32([]byte{0xCE}, uint32(n))
	case n >= 0:
		return binary.BigEndian.AppendUint64([]byte{0xCF}, uint64(n))
	case n >= math.MinInt8:
		return []byte{0xD0, byte(n)}
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16([]byte{0xD1}, uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32([]byte{0xD2}, uint32(n))
	}
	return binary.BigEndian.AppendUint64([]byte{0xD3}, uint64(n))
}

func encodeFloat(f float64) []byte { return append([]byte{0xCB}, floatBytes(f)...) }

// decodeInt reads a whole number. One over the largest int64 comes out as its two's complement, as a bin keeps it.
func decodeInt(b []byte) (int64, bool) {
	h, ok := headOf(b)
	if !ok || h.rank != rankInt {
		return 0, false
	}
	p := b[1 : 1+h.payload]
	switch t := b[0]; {
	case t <= 0x7F || t >= 0xE0:
		return int64(int8(t)), true
	case t == 0xD0:
		return int64(int8(p[0])), true
	case t == 0xD1:
		return int64(int16(binary.BigEndian.Uint16(p))), true
	case t == 0xD2:
		return int64(int32(binary.BigEndian.Uint32(p))), true
	}
	return int64Particle(p)
}

func decodeFloat(b []byte) (float64, bool) {
	switch h, ok := headOf(b); {
	case !ok || h.rank != rankFloat:
		return 0, false
	case h.payload == 4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b[1:]))), true
	}
	return floatOf(b[1:]), true
}

// particleOf is the element as the value of a bin.
func particleOf(b []byte) particle {
	h, ok := headOf(b)
	if !ok {
		return particle{}
	}
	raw := b[h.size : h.size+h.payload]
	switch h.rank {
	case rankBool:
		return particle{typeBool, []byte{b[0] & 1}}
	case rankInt:
		n, _ := decodeInt(b)
		return integer(n)
	case rankFloat:
		f, _ := decodeFloat(b)
		return particle{typeFloat, floatBytes(f)}
	case rankString, rankBlob, rankGeo:
		if len(raw) > 0 {
			switch raw[0] {
			case typeString, typeBlob, typeHLL, typeGeoJSON:
				return particle{raw[0], raw[1:]}
			}
		}
		return particle{typeBlob, raw}
	case rankList:
		return particle{typeList, b}
	case rankMap:
		return particle{typeMap, b}
	}
	return particle{}
}

// compare orders two whole values as Aerospike does: by type, then by value; lists element by element, maps by
// length first.
func compare(a, b []byte) int {
	ha, okA := headOf(a)
	hb, okB := headOf(b)
	if !okA || !okB || ha.rank != hb.rank {
		return cmp.Compare(ha.rank, hb.rank)
	}
	switch ha.rank {
	case rankBool:
		return cmp.Compare(a[0], b[0])
	case rankInt:
		x, _ := decodeInt(a)
		y, _ := decodeInt(b)
		return cmp.Compare(x, y)
	case rankFloat:
		x, _ := decodeFloat(a)
		y, _ := decodeFloat(b)
		return cmp.Compare(x, y)
	case rankList, rankMap:
		return compareChildren(a[ha.size:], b[hb.size:], ha, hb)
	}
	return bytes.Compare(a[ha.size:ha.size+ha.payload], b[hb.size:hb.size+hb.payload])
}

func compareChildren(a, b []byte, ha, hb head) int {
	if ha.rank == rankMap && ha.children != hb.children {
		return cmp.Compare(ha.children, hb.children)
	}
	for range min(ha.children, hb.children) {
		na, nb := valueLength(a), valueLength(b)
		if na == 0 || nb == 0 {
			return cmp.Compare(na, nb)
		}
		if c := compare(a[:na], b[:nb]); c != 0 {
			return c
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(ha.children, hb.children)
}

// encodeRaw encodes a string or blob with its particle type.
func encodeRaw(kind byte, v []byte) []byte {
	n := len(v) + 1
	b := make([]byte, 0, n+5)
	switch {
	case n < 32:
		b = append(b, 0xA0|byte(n))
	case n <= math.MaxUint8:
		b = append(b, 0xD9, byte(n))
	case n <= math.MaxUint16:
		b = binary.BigEndian.AppendUint16(append(b, 0xDA), uint16(n))
	default:
		b = binary.BigEndian.AppendUint32(append(b, 0xDB), uint32(n))
	}
	return append(append(b, kind), v...)
}
