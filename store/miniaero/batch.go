package miniaero

import "encoding/binary"

// Flags of a row of a batch: what precedes its fields.
const (
	rowRepeat = 1 << 0 // all as in the row before
	rowInfo   = 1 << 1 // three info bytes, not the first alone
	rowGen    = 1 << 2
	rowTTL    = 1 << 3

	batchHeader = 5                  // number of rows, flags
	rowHeader   = 4 + digestSize + 1 // index, digest, flags
)

// batch answers rows in the order in which they came, many to a frame, and then a frame that says it was the
// last. Each row is an operation of its own: a batch is not atomic. A batch that can't be understood changes
// nothing.
func (c *session) batch(r *request) bool {
	if !c.rows(r, nil) {
		return c.refuse(ParameterError)
	}
	var start int
	c.out, start = beginFrame(c.out)
	alive := true
	c.rows(r, func(row *request, index uint32) bool {
		c.record(row.kind(), row, index)
		if len(c.out)-start >= flushAt {
			endFrame(c.out, start, typeMessage)
			if alive = c.flush(); !alive {
				return false
			}
			c.out, start = beginFrame(c.out)
		}
		return true
	})
	if !alive {
		return false
	}
	if len(c.out)-start > protoHeader {
		endFrame(c.out, start, typeMessage)
	} else {
		c.out = c.out[:start]
	}
	c.last()
	return true
}

// last appends the frame that ends a batch or a scan.
func (c *session) last() {
	var start int
	c.out, start = beginFrame(c.out)
	c.out = fail(c.out, len(c.out), reply{info3: info3Last})
	endFrame(c.out, start, typeMessage)
}

// rows decodes the rows of a batch and hands each to do, which may be nil, until it returns false. It returns
// whether all could be decoded.
func (c *session) rows(r *request, do func(row *request, index uint32) bool) bool {
	b := r.batch
	if len(b) < batchHeader {
		return false
	}
	n := binary.BigEndian.Uint32(b)
	b = b[batchHeader:]
	if n == 0 || uint64(n)*rowHeader > uint64(len(b)) {
		return false
	}
	row := &c.row
	for i := range n {
		if len(b) < rowHeader {
			return false
		}
		index, flags := binary.BigEndian.Uint32(b), b[rowHeader-1]
		d := digest(b[4:])
		b = b[rowHeader:]
		if flags&rowRepeat == 0 {
			*row = request{filter: r.filter}
			var ok bool
			if b, ok = row.header(b, flags); !ok {
				return false
			}
		} else if i == 0 {
			return false // as in which row?
		}
		row.digest, row.hasDigest = d, true
		if do != nil && !do(row, index) {
			return true
		}
	}
	return true
}

// header decodes what a row says that does not repeat the one before, and returns what follows it.
func (r *request) header(b []byte, flags byte) ([]byte, bool) {
	size := 1
	if flags&rowInfo != 0 {
		size = 3
	}
	gen, ttl := size, size
	if flags&rowGen != 0 {
		size, ttl = size+2, ttl+2
	}
	if flags&rowTTL != 0 {
		size += 4
	}
	if len(b) < size+4 {
		return nil, false
	}
	r.info1 = b[0]
	if flags&rowInfo != 0 {
		r.info2, r.info3 = b[1], b[2]
	}
	if flags&rowGen != 0 {
		r.generation = uint32(binary.BigEndian.Uint16(b[gen:]))
	}
	if flags&rowTTL != 0 && r.info2&info2Write != 0 { // for a read it is a percentage at which to touch, which is not done here
		r.ttl = binary.BigEndian.Uint32(b[ttl:])
	}
	nFields := int(binary.BigEndian.Uint16(b[size:]))
	r.nOps = int(binary.BigEndian.Uint16(b[size+2:]))
	rest, ok := r.fields(b[size+4:], nFields)
	if !ok || r.batch != nil || r.scan {
		return nil, false
	}
	n, ok := opsLength(rest, r.nOps)
	r.ops = rest[:n]
	return rest[n:], ok
}
