package miniaero

import (
	"encoding/binary"
	"time"
)

// record is one version of a record. It is never changed: a write puts a new one in its place, so that a
// reader may encode it without a lock.
//
// Its bins are kept as they are answered, a run of read operations: to get all bins is to copy.
type record struct {
	data       []byte // the user's key, if it was sent, then the bins
	updated    int64  // Unix nanoseconds
	void       uint32 // seconds since 2010; 0 is never
	binsAt     uint32
	generation uint16
	nBins      uint16
	set        uint16
}

// recordOverhead is about what a record takes beyond its data: the struct, its place in the map, and what the
// allocator rounds up.
const recordOverhead = 128

func (r *record) key() []byte  { return r.data[:r.binsAt] }
func (r *record) bins() []byte { return r.data[r.binsAt:] }
func (r *record) cost() int64  { return int64(len(r.data)) + recordOverhead }

// expired says whether the record is gone at a second.
func (r *record) expired(now uint32) bool { return r.void != 0 && r.void < now }

// bin finds one bin.
func (r *record) bin(name []byte) (operation, bool) {
	for b := r.bins(); len(b) > 0; {
		o, n := parseOp(b)
		if string(o.name) == string(name) {
			return o, true
		}
		b = b[n:]
	}
	return operation{}, false
}

// draft is a record while a write works on it: its bins apart, pointing into the old record and the request. A bin
// that was removed stays as one whose particle is null, so that places do not move.
type draft struct {
	bins  []operation
	live  int
	index map[string]int // places by name, once there are many
}

// manyBins is a number up to which it is quicker to look at each.
const manyBins = 64

func (d *draft) load(r *record) {
	d.clear()
	if r == nil {
		return
	}
	for b := r.bins(); len(b) > 0; {
		o, n := parseOp(b)
		d.bins = append(d.bins, o)
		d.live++
		b = b[n:]
	}
}

func (d *draft) clear() {
	d.bins, d.live, d.index = d.bins[:0], 0, nil
}

// place is where a bin is, or was before it was removed; -1 for one that never was.
func (d *draft) place(name []byte) int {
	if len(d.bins) <= manyBins {
		for i := range d.bins {
			if string(d.bins[i].name) == string(name) {
				return i
			}
		}
		return -1
	}
	if d.index == nil {
		d.index = make(map[string]int, 2*len(d.bins))
		for i := range d.bins {
			d.index[string(d.bins[i].name)] = i
		}
	}
	if i, ok := d.index[string(name)]; ok {
		return i
	}
	return -1
}

// find is the bin, with a null particle if there is none.
func (d *draft) find(name []byte) operation {
	if i := d.place(name); i >= 0 {
		return d.bins[i]
	}
	return operation{}
}

// set gives a bin a value, or removes it when the particle is null.
func (d *draft) set(name []byte, kind byte, value []byte) {
	i := d.place(name)
	if i < 0 {
		if kind == typeNull {
			return
		}
		i = len(d.bins)
		d.bins = append(d.bins, operation{code: opRead, name: name})
		if d.index != nil {
			d.index[string(name)] = i
		}
	}
	b := &d.bins[i]
	if b.particle != typeNull {
		d.live--
	}
	if kind != typeNull {
		d.live++
	}
	b.particle, b.value = kind, value
}

// each goes through the bins that are there.
func (d *draft) each(do func(operation)) {
	for _, b := range d.bins {
		if b.particle != typeNull {
			do(b)
		}
	}
}

// size is the length of the bins when encoded.
func (d *draft) size() int {
	n := 0
	d.each(func(b operation) { n += opHeader + len(b.name) + len(b.value) })
	return n
}

// encode makes the data of a record: exactly as long as needed, and pointing to nothing of the request.
func (d *draft) encode(key []byte) []byte {
	data := make([]byte, 0, len(key)+d.size())
	data = append(data, key...)
	d.each(func(b operation) { data = appendOp(data, opRead, b.particle, b.name, b.value) })
	return data
}

// nextGeneration counts to 65535 and starts again from 1.
func nextGeneration(g uint16) uint16 {
	if g == 65535 {
		return 1
	}
	return g + 1
}

// The special TTLs of a request, and the longest.
const (
	ttlDefault = 0
	ttlNever   = 0xFFFFFFFF
	ttlKeep    = 0xFFFFFFFE
	ttlMost    = 10 * 365 * 24 * 3600
)

// voidTime is when a record that is written now stops to be. ok is false for a TTL over ten years.
func voidTime(ttl uint32, standard time.Duration, old *record, now uint32) (void uint32, ok bool) {
	if ttl == ttlKeep && old != nil {
		return old.void, true
	}
	switch ttl {
	case ttlNever:
		return 0, true
	case ttlDefault, ttlKeep:
		if standard <= 0 {
			return 0, true
		}
		return now + uint32((standard+time.Second-1)/time.Second), true
	}
	if ttl > ttlMost {
		return 0, false
	}
	return now + ttl, true
}

func int64Particle(v []byte) (int64, bool) {
	switch len(v) {
	case 1:
		return int64(v[0]), true
	case 2:
		return int64(binary.BigEndian.Uint16(v)), true
	case 4:
		return int64(binary.BigEndian.Uint32(v)), true
	case 8:
		return int64(binary.BigEndian.Uint64(v)), true
	}
	return 0, false
}

func int64Bytes(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }
