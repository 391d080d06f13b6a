package miniaero

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// scanned is a record on its way out of a scan.
type scanned struct {
	digest digest
	record *record
}

// scan answers with the records of the partitions asked for, or of those behind a record when a scan continues,
// partition by partition and by digest, so that it can be continued. It sees each record as it is when the scan
// comes by; one that is written meanwhile may be seen or not.
func (c *session) scan(r *request) bool {
	ns := c.server.namespaces[string(r.namespace)]
	switch {
	case ns == nil:
		return c.refuse(UnknownNamespace)
	case r.udf:
		return c.refuse(udfError)
	case r.info1&info1Read == 0 || r.info2 != 0: // those that write run in the background of a real server
		return c.refuse(ParameterError)
	}
	wanted, ok := r.wanted()
	if !ok {
		return c.refuse(ParameterError)
	}
	var query *indexQuery
	if r.indexRange != nil {
		var code ResultCode
		if query, code = c.server.indexes.query(ns.name, string(r.set), r.indexRange); code != OK {
			return c.refuse(code)
		}
	}
	set, known := ns.lookupSet(r.set)
	if known {
		if alive, code := c.scanShards(ns, r, set, wanted, query); !alive || code != OK {
			return alive && c.refuse(code)
		}
	}
	c.last()
	return true
}

// partitionWish says whether a partition is wanted, and behind which digest.
type partitionWish struct {
	wanted bool
	after  digest
}

func (r *request) wanted() (*[partitionCount]partitionWish, bool) {
	var w [partitionCount]partitionWish
	for b := r.partitions; len(b) > 0; b = b[2:] {
		id := binary.LittleEndian.Uint16(b)
		if int(id) >= partitionCount {
			return nil, false
		}
		w[id].wanted = true
	}
	for b := r.digests; len(b) > 0; b = b[digestSize:] {
		d := digest(b)
		w[partitionOf(&d)] = partitionWish{true, d}
	}
	return &w, true
}

func (c *session) scanShards(ns *namespace, r *request, set uint16, wanted *[partitionCount]partitionWish, q *indexQuery) (alive bool, code ResultCode) {
	var start int
	c.out, start = beginFrame(c.out)
	left := r.maxRecords
	var found []scanned
	for i := range ns.shards {
		found = c.collect(&ns.shards[i], len(r.set) == 0, set, wanted, found[:0])
		for _, f := range found {
			if len(r.filter) > 0 {
				code := c.filter(r.filter, f.record)
				if code == FilteredOut {
					continue
				}
				if code != OK {
					c.out = c.out[:start]
					return true, code
				}
			}
			sent, code := c.scanRow(ns, r, f, q)
			if code != OK {
				c.out = c.out[:start]
				return true, code
			}
			if sent && r.maxRecords > 0 {
				if left--; left == 0 {
					return c.endScan(start), OK
				}
			}
			if len(c.out)-start >= flushAt {
				endFrame(c.out, start, typeMessage)
				if !c.flush() {
					return false, OK
				}
				c.out, start = beginFrame(c.out)
			}
		}
	}
	return c.endScan(start), OK
}

func (c *session) endScan(start int) bool {
	if len(c.out)-start == protoHeader {
		c.out = c.out[:start]
	} else {
		endFrame(c.out, start, typeMessage)
	}
	return true
}

// collect takes the wanted records of a shard, in the order in which they are to be sent.
func (c *session) collect(s *shard, every bool, set uint16, wanted *[partitionCount]partitionWish, found []scanned) []scanned {
	now := c.server.clock.seconds()
	s.mu.RLock()
	for d, rec := range s.records {
		w := &wanted[partitionOf(&d)]
		if w.wanted && (every || rec.set == set) && !rec.expired(now) && bytes.Compare(d[:], w.after[:]) > 0 {
			found = append(found, scanned{d, rec})
		}
	}
	s.mu.RUnlock()
	slices.SortFunc(found, func(a, b scanned) int {
		if p := partitionOf(&a.digest) - partitionOf(&b.digest); p != 0 {
			return p
		}
		return bytes.Compare(a.digest[:], b.digest[:])
	})
	return found
}

// scanRow appends a record with the fields that name it. What a query does not match is passed over.
func (c *session) scanRow(ns *namespace, r *request, f scanned, q *indexQuery) (sent bool, code ResultCode) {
	p := reply{info1: r.info1 & info1NoBins, generation: f.record.generation, void: f.record.void, nFields: 2}
	var match []byte
	if q != nil {
		var ok bool
		if match, ok = q.match(f.record); !ok {
			return false, OK
		}
	}
	start := len(c.out)
	c.out = append(c.out, blankHeader[:]...)
	c.out = appendField(c.out, fieldNamespace, []byte(ns.name))
	c.out = appendField(c.out, fieldDigest, f.digest[:])
	if f.record.set != 0 {
		c.out = appendField(c.out, fieldSet, []byte(ns.setName(f.record.set)))
		p.nFields++
	}
	if key := f.record.key(); len(key) > 0 {
		c.out = appendField(c.out, fieldKey, key)
		p.nFields++
	}
	if match != nil {
		c.out = appendField(c.out, fieldIndexValues, match)
		p.nFields++
	}
	if r.nOps == 0 && r.info1&info1NoBins == 0 {
		c.out = append(c.out, f.record.bins()...)
		p.nOps = int(f.record.nBins)
	} else if p.nOps, p.code = c.readBins(r, f.record); p.code != OK {
		return false, p.code
	}
	p.put(c.out[start:])
	return true, OK
}
