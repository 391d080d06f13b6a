package miniaero

// message answers one message; false ends the connection.
func (c *session) message(body []byte) bool {
	r := &c.req
	if !parseMessage(body, r) {
		return c.refuse(ParameterError)
	}
	kind := r.kind()
	code, ok := c.strike(kind, r)
	switch {
	case !ok:
		return false
	case code != OK:
		return c.refuse(code)
	case kind == KindBatch:
		return c.batch(r)
	case kind == KindScan:
		return c.scan(r)
	}
	var start int
	c.out, start = beginFrame(c.out)
	c.record(kind, r, 0)
	endFrame(c.out, start, typeMessage)
	return true
}

// refuse answers with a bare code, which also ends what a batch or a scan waits for.
func (c *session) refuse(code ResultCode) bool {
	var start int
	c.out, start = beginFrame(c.out)
	c.out = fail(c.out, len(c.out), reply{code: code})
	endFrame(c.out, start, typeMessage)
	return true
}

func (r *request) kind() Kind {
	switch {
	case r.batch != nil:
		return KindBatch
	case r.scan:
		return KindScan
	case r.info2&info2Delete != 0:
		return KindDelete
	case r.info2&info2Write != 0:
		return KindWrite
	}
	return KindRead
}

// record does an operation on one record and appends its answer, without a frame; index is its row in a batch.
func (c *session) record(kind Kind, r *request, index uint32) {
	p := reply{index: index}
	ns := c.server.namespaces[string(r.namespace)]
	switch {
	case ns == nil:
		p.code = UnknownNamespace
	case !r.hasDigest || len(r.set) > maxSetName:
		p.code = ParameterError
	case r.udf:
		p.code = udfError
	case kind == KindRead && r.info1&info1Read == 0:
		p.code = ParameterError
	}
	if p.code != OK {
		c.out = fail(c.out, len(c.out), p)
		return
	}
	switch kind {
	case KindRead:
		c.get(ns, r, p)
	case KindDelete:
		c.remove(ns, r, p)
	default:
		c.write(ns, r, p)
	}
}

// mismatch says whether a key was sent that is not the one that the record was stored under.
func (r *request) mismatch(rec *record) bool {
	return len(r.key) > 0 && rec.binsAt > 0 && string(r.key) != string(rec.key())
}
