package miniaero

// write answers a put, a touch, or an operate that changes something: all of it or nothing, one step of the
// generation.
func (c *session) write(ns *namespace, r *request, p reply) {
	start := len(c.out)
	touch, code := c.checkOps(r)
	if code == OK && !r.validTTL() {
		code = ParameterError
	}
	set, ok := uint16(0), true
	if code == OK && len(r.set) > 0 {
		if set, ok = ns.setID(r.set); !ok {
			code = ParameterError
		}
	}
	if code != OK {
		p.code = code
		c.out = fail(c.out, start, p)
		return
	}
	answer := c.tryWrite(ns, r, p, set, touch)
	if answer.code == OutOfSpace && c.server.reap(ns) {
		c.out = c.out[:start]
		answer = c.tryWrite(ns, r, p, set, touch)
	}
	if answer.code != OK {
		c.out = fail(c.out, start, answer)
		return
	}
	answer.put(c.out[start:])
}

// tryWrite does the write under the lock of its shard.
func (c *session) tryWrite(ns *namespace, r *request, p reply, set uint16, touch bool) reply {
	now := c.server.clock.now()
	second := uint32(now.Unix() - epoch)
	s := ns.shard(&r.digest)
	s.mu.Lock()
	defer s.mu.Unlock()

	old := s.records[r.digest]
	live := old
	if old != nil && old.expired(second) {
		live = nil
	}
	if live != nil {
		p.generation, p.void = live.generation, live.void
	}
	if p.code = c.allowed(r, live, touch); p.code != OK {
		return p
	}
	base := live
	if r.replaces() {
		base = nil
	}
	c.draft.load(base)
	c.out = append(c.out, blankHeader[:]...)
	if p.nOps, p.code = c.applyOps(r, ns.limits.recordSize); p.code != OK {
		return p
	}
	if c.draft.live == 0 {
		if live == nil {
			p.code = NotFound
			return p
		}
		ns.remove(s, &r.digest, old)
		p.generation, p.void = 0, 0
		return p
	}
	if c.draft.live > 0xFFFF || c.draft.size() > ns.limits.recordSize {
		p.code = RecordTooBig
		return p
	}
	key := r.key
	if len(key) == 0 && live != nil {
		key = live.key()
	}
	void, _ := voidTime(r.ttl, ns.limits.ttl, live, second)
	made := &record{
		data: c.draft.encode(key), binsAt: uint32(len(key)), nBins: uint16(c.draft.live),
		updated: now.UnixNano(), void: void, generation: 1, set: set,
	}
	if live != nil {
		made.generation = nextGeneration(live.generation)
	}
	if old != nil {
		made.set = old.set
	}
	if !ns.replace(s, &r.digest, old, made) {
		p.code = OutOfSpace
		return p
	}
	p.generation, p.void = made.generation, made.void
	return p
}

// allowed checks a write against the record that is there (nil: none).
func (c *session) allowed(r *request, live *record, touch bool) ResultCode {
	switch {
	case live != nil && r.info2&info2CreateOnly != 0:
		return RecordExists
	case live == nil && (touch || r.info3&(info3UpdateOnly|info3ReplaceOnly) != 0):
		return NotFound
	case !r.generationFits(live):
		return GenerationError
	case live != nil && r.mismatch(live):
		return KeyMismatch
	case live != nil && len(r.filter) > 0:
		return c.filter(r.filter, live)
	}
	return OK
}

func (r *request) generationFits(live *record) bool {
	var g uint32
	if live != nil {
		g = uint32(live.generation)
	}
	switch {
	case r.info2&info2Generation != 0:
		return r.generation == g
	case r.info2&info2GenerationGT != 0:
		return r.generation > g
	}
	return true
}

func (r *request) replaces() bool { return r.info3&(info3CreateOrReplace|info3ReplaceOnly) != 0 }

func (r *request) validTTL() bool {
	_, ok := voidTime(r.ttl, 0, nil, 0)
	return ok
}

// remove answers a delete.
func (c *session) remove(ns *namespace, r *request, p reply) {
	if r.info2&info2DurableDelete != 0 {
		p.code = EnterpriseOnly
	} else {
		p.code = c.tryRemove(ns, r)
	}
	c.out = fail(c.out, len(c.out), p)
}

func (c *session) tryRemove(ns *namespace, r *request) ResultCode {
	s := ns.shard(&r.digest)
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.records[r.digest]
	switch {
	case old == nil:
		return NotFound
	case old.expired(c.server.clock.seconds()):
		ns.remove(s, &r.digest, old)
		return NotFound
	case !r.generationFits(old):
		return GenerationError
	case r.mismatch(old):
		return KeyMismatch
	case len(r.filter) > 0:
		if code := c.filter(r.filter, old); code != OK {
			return code
		}
	}
	ns.remove(s, &r.digest, old)
	return OK
}
