package miniaero

// get answers a read of one record.
func (c *session) get(ns *namespace, r *request, p reply) {
	start := len(c.out)
	rec := ns.get(&r.digest)
	if rec == nil {
		p.code = NotFound
		c.out = fail(c.out, start, p)
		return
	}
	p.generation, p.void = rec.generation, rec.void
	switch {
	case rec.void != 0 && rec.expired(c.server.clock.seconds()):
		p.code = NotFound
	case r.mismatch(rec):
		p.code = KeyMismatch
	case len(r.filter) > 0:
		p.code = c.filter(r.filter, rec)
	}
	if p.code != OK {
		c.out = fail(c.out, start, p)
		return
	}
	c.out = append(c.out, blankHeader[:]...)
	if p.nOps, p.code = c.readBins(r, rec); p.code != OK {
		c.out = fail(c.out, start, p)
		return
	}
	p.put(c.out[start:])
}

// readBins appends what the request wants of a record's bins.
func (c *session) readBins(r *request, rec *record) (nOps int, code ResultCode) {
	switch {
	case r.info1&info1NoBins != 0:
		return 0, OK
	case r.nOps == 0 && r.info1&info1GetAll != 0:
		c.out = append(c.out, rec.bins()...)
		return int(rec.nBins), OK
	case r.nOps == 0:
		return 0, ParameterError
	}
	all := r.info2&info2RespondAll != 0
	for ops := r.ops; len(ops) > 0; {
		o, size := parseOp(ops)
		ops = ops[size:]
		if o.code == opRead && len(o.name) == 0 {
			c.out = append(c.out, rec.bins()...)
			nOps += int(rec.nBins)
			continue
		}
		bin, found := rec.bin(o.name)
		n, code := c.readOp(o, bin, found, all)
		if code != OK {
			return 0, code
		}
		nOps += n
	}
	return nOps, OK
}

// readOp appends the answer to one reading operation on one bin. One that finds nothing is not answered, unless
// the request wants an answer for every operation.
func (c *session) readOp(o, bin operation, found, all bool) (nOps int, code ResultCode) {
	value := particle{bin.particle, bin.value}
	switch {
	case len(o.name) > maxBinName:
		return 0, BinNameTooLong
	case o.code == opCDTRead:
		if found {
			value, code = cdtRead(bin, o.value)
		}
	case o.code != opRead:
		return 0, ParameterError
	}
	if code != OK {
		return 0, code
	}
	if value.kind == typeNull && !all {
		return 0, OK
	}
	c.out = appendOp(c.out, o.code, value.kind, o.name, value.bytes)
	return 1, OK
}

// particle is a typed value as it is on the wire.
type particle struct {
	kind  byte
	bytes []byte
}

func integer(v int64) particle { return particle{typeInteger, int64Bytes(v)} }
