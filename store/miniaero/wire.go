package miniaero

import "encoding/binary"

// A frame is 8 bytes (version, type, 48-bit length) and a body. Every number on the wire is big-endian, but
// for partition ids and the values of index ranges' answers.
const (
	protoVersion = 2
	protoHeader  = 8

	typeInfo       = 1
	typeMessage    = 3
	typeCompressed = 4

	messageHeader = 22
	opHeader      = 8 // size, op, particle, version, length of the name
	fieldHeader   = 5 // size, type
	digestSize    = 20

	maxBinName = 15
	maxSetName = 63
)

// Flags of the three info bytes of a message.
const (
	info1Read   = 1 << 0
	info1GetAll = 1 << 1
	info1Batch  = 1 << 3
	info1NoBins = 1 << 5

	info2Write         = 1 << 0
	info2Delete        = 1 << 1
	info2Generation    = 1 << 2
	info2GenerationGT  = 1 << 3
	info2DurableDelete = 1 << 4
	info2CreateOnly    = 1 << 5
	info2RespondAll    = 1 << 7

	info3Last            = 1 << 0
	info3UpdateOnly      = 1 << 3
	info3CreateOrReplace = 1 << 4
	info3ReplaceOnly     = 1 << 5
)

// Fields of a message.
const (
	fieldNamespace    = 0
	fieldSet          = 1
	fieldKey          = 2
	fieldDigest       = 4
	fieldTransaction  = 7
	fieldSocketLimit  = 9
	fieldRate         = 10
	fieldPartitions   = 11
	fieldDigests      = 12
	fieldMaxRecords   = 13
	fieldIndexValues  = 15
	fieldIndexName    = 21
	fieldIndexRange   = 22
	fieldIndexContext = 23
	fieldIndexType    = 26
	fieldUDFFirst     = 30
	fieldUDFLast      = 33
	fieldBatch        = 41
	fieldBatchWithSet = 42
	fieldFilter       = 43
)

// Operations of a message.
const (
	opRead      = 1
	opWrite     = 2
	opCDTRead   = 3
	opCDTModify = 4
	opIncrement = 5
	opAppend    = 9
	opPrepend   = 10
	opTouch     = 11
	opDelete    = 14
)

// Particle types.
const (
	typeNull    = 0
	typeInteger = 1
	typeFloat   = 2
	typeString  = 3
	typeBlob    = 4
	typeBool    = 17
	typeHLL     = 18
	typeMap     = 19
	typeList    = 20
	typeGeoJSON = 23
)

type digest = [digestSize]byte

// request is one decoded message. Its slices alias the frame and are valid until the next one is read.
type request struct {
	info1, info2, info3 byte
	generation          uint32
	ttl                 uint32

	namespace, set []byte
	digest         digest
	hasDigest      bool
	key            []byte // the user's key with its particle type before it, when it was sent
	batch          []byte // rows
	partitions     []byte // u16 little-endian each: a scan
	digests        []byte // 20 bytes each: partitions of a scan that continue behind a record
	scan           bool
	maxRecords     uint64 // 0: all
	filter         []byte
	indexRange     []byte
	udf            bool

	ops  []byte
	nOps int
}

// operation is one operation of a message, or one bin of a record: records keep their bins in this form.
type operation struct {
	code, particle byte
	name, value    []byte
}

// parseMessage decodes a message's body. It allocates nothing and trusts no length; false says garbled.
func parseMessage(b []byte, r *request) bool {
	*r = request{}
	if len(b) < messageHeader || b[0] < messageHeader || int(b[0]) > len(b) {
		return false
	}
	r.info1, r.info2, r.info3 = b[1], b[2], b[3]
	r.generation = binary.BigEndian.Uint32(b[6:])
	r.ttl = binary.BigEndian.Uint32(b[10:])
	nFields := int(binary.BigEndian.Uint16(b[18:]))
	r.nOps = int(binary.BigEndian.Uint16(b[20:]))
	rest, ok := r.fields(b[b[0]:], nFields)
	if !ok {
		return false
	}
	n, ok := opsLength(rest, r.nOps)
	r.ops = rest[:n]
	return ok
}

// fields decodes n fields at the start of b and returns what follows them.
func (r *request) fields(b []byte, n int) ([]byte, bool) {
	for range n {
		if len(b) < fieldHeader {
			return nil, false
		}
		size := int(binary.BigEndian.Uint32(b))
		if size < 1 || size > len(b)-4 {
			return nil, false
		}
		if !r.field(b[4], b[fieldHeader:4+size]) {
			return nil, false
		}
		b = b[4+size:]
	}
	return b, true
}

func (r *request) field(kind byte, v []byte) bool {
	switch kind {
	case fieldNamespace:
		r.namespace = v
	case fieldSet:
		r.set = v
	case fieldKey:
		r.key = v
	case fieldDigest:
		r.hasDigest = copy(r.digest[:], v) == digestSize && len(v) == digestSize
		return r.hasDigest
	case fieldBatch, fieldBatchWithSet:
		r.batch = v
	case fieldPartitions:
		r.partitions, r.scan = v, true
		return len(v)%2 == 0
	case fieldDigests:
		r.digests, r.scan = v, true
		return len(v)%digestSize == 0
	case fieldMaxRecords:
		if len(v) != 8 {
			return false
		}
		r.maxRecords = binary.BigEndian.Uint64(v)
	case fieldFilter:
		r.filter = v
	case fieldIndexRange:
		r.indexRange = v
	default:
		r.udf = r.udf || kind >= fieldUDFFirst && kind <= fieldUDFLast
	}
	return true
}

// opsLength walks n operations at the start of b and returns their length.
func opsLength(b []byte, n int) (int, bool) {
	at := 0
	for range n {
		_, size := parseOp(b[at:])
		if size == 0 {
			return 0, false
		}
		at += size
	}
	return at, true
}

// parseOp decodes the operation at the start of b and returns its length, 0 when b does not hold one.
func parseOp(b []byte) (operation, int) {
	if len(b) < opHeader {
		return operation{}, 0
	}
	size := int(binary.BigEndian.Uint32(b))
	name := int(b[7])
	if size > len(b)-4 || size < opHeader-4+name {
		return operation{}, 0
	}
	return operation{b[4], b[5], b[opHeader : opHeader+name], b[opHeader+name : 4+size]}, 4 + size
}

func appendOp(out []byte, code, particle byte, name, value []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(opHeader-4+len(name)+len(value)))
	out = append(out, code, particle, 0, byte(len(name)))
	out = append(out, name...)
	return append(out, value...)
}

func appendField(out []byte, kind byte, value []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(value)+1))
	out = append(out, kind)
	return append(out, value...)
}

// reply is the header of an answer.
type reply struct {
	info1, info3 byte
	code         ResultCode
	generation   uint16
	void         uint32 // seconds since 2010; 0 is never
	index        uint32 // of the row in its batch
	nFields      int
	nOps         int
}

// put writes the header over the first 22 bytes of b.
func (p reply) put(b []byte) {
	_ = b[messageHeader-1]
	b[0], b[1], b[2], b[3], b[4], b[5] = messageHeader, p.info1, 0, p.info3, 0, byte(p.code)
	binary.BigEndian.PutUint32(b[6:], uint32(p.generation))
	binary.BigEndian.PutUint32(b[10:], p.void)
	binary.BigEndian.PutUint32(b[14:], p.index)
	binary.BigEndian.PutUint16(b[18:], uint16(p.nFields))
	binary.BigEndian.PutUint16(b[20:], uint16(p.nOps))
}

var blankHeader [messageHeader]byte

// fail replaces whatever was answered from start on by a bare code.
func fail(out []byte, start int, p reply) []byte {
	p.nFields, p.nOps = 0, 0
	out = append(out[:start], blankHeader[:]...)
	p.put(out[start:])
	return out
}

// beginFrame leaves room for a frame's header; endFrame fills it in.
func beginFrame(out []byte) ([]byte, int) {
	return append(out, make([]byte, protoHeader)...), len(out)
}

func endFrame(out []byte, start int, kind byte) {
	binary.BigEndian.PutUint64(out[start:], uint64(len(out)-start-protoHeader))
	out[start], out[start+1] = protoVersion, kind
}
