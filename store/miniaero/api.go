package miniaero

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"

	"github.com/aerospike/aerospike-client-go/v7/pkg/ripemd160"
)

// Key names a record from Go. ID is a string, an int, an int64 or a []byte.
type Key struct {
	Namespace, Set string
	ID             any
}

// Record is a record as Go sees it. Bins are int64, float64, bool, string, []byte, []any, or map[any]any (whose keys
// are of the first four types, and strings for what were blobs).
type Record struct {
	Set        string
	Bins       map[string]any
	Generation uint16
	Updated    time.Time
	// Expires is when the record stops to be, to a whole second; zero: never.
	Expires time.Time
}

// Digest is the 20 bytes by which the server knows the record.
func (k Key) Digest() ([20]byte, error) {
	h := ripemd160.New()
	h.Write([]byte(k.Set))
	switch id := k.ID.(type) {
	case string:
		h.Write(append([]byte{typeString}, id...))
	case []byte:
		h.Write(append([]byte{typeBlob}, id...))
	case int:
		h.Write(binary.BigEndian.AppendUint64([]byte{typeInteger}, uint64(id)))
	case int64:
		h.Write(binary.BigEndian.AppendUint64([]byte{typeInteger}, uint64(id)))
	default:
		return digest{}, fmt.Errorf("miniaero: key %v: a key is a string, an int, an int64 or a []byte, not %T", k.ID, k.ID)
	}
	return digest(h.Sum(nil)), nil
}

func (s *Server) locate(k Key) (*namespace, digest, error) {
	ns := s.namespaces[k.Namespace]
	if ns == nil {
		return nil, digest{}, fmt.Errorf("miniaero: no namespace %q: there are %v", k.Namespace, s.names)
	}
	d, err := k.Digest()
	return ns, d, err
}

// Get looks a record up without the wire. False: there is none, or it has expired, or its key is no key.
func (s *Server) Get(k Key) (Record, bool) {
	ns, d, err := s.locate(k)
	if err != nil {
		return Record{}, false
	}
	r := ns.get(&d)
	if r == nil || r.expired(s.clock.seconds()) {
		return Record{}, false
	}
	return ns.export(r), true
}

// Put writes the whole record without the wire, in place of one that is there. A ttl counts in whole seconds,
// rounded up; 0 is for ever.
func (s *Server) Put(k Key, bins map[string]any, ttl time.Duration) error {
	ns, d, err := s.locate(k)
	if err != nil {
		return err
	}
	set, ok := ns.setID([]byte(k.Set))
	if !ok {
		return fmt.Errorf("miniaero: set %q: a name has at most %d bytes, a namespace at most %d sets", k.Set, maxSetName, maxSets)
	}
	var w draft
	for _, name := range sortedNames(bins) {
		p, err := particleFrom(bins[name])
		if err != nil {
			return fmt.Errorf("miniaero: bin %q: %w", name, err)
		}
		if len(name) == 0 || len(name) > maxBinName {
			return fmt.Errorf("miniaero: bin %q: a name has 1 to %d bytes", name, maxBinName)
		}
		w.set([]byte(name), p.kind, p.bytes)
	}
	if w.live == 0 {
		return fmt.Errorf("miniaero: a record needs a bin")
	}
	now := s.clock.now()
	made := &record{data: w.encode(nil), nBins: uint16(w.live), updated: now.UnixNano(), generation: 1, set: set}
	if ttl > 0 {
		made.void = uint32(now.Unix()-epoch) + uint32((ttl+time.Second-1)/time.Second)
	}
	sh := ns.shard(&d)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	old := sh.records[d]
	if old != nil && !old.expired(s.clock.seconds()) {
		made.generation = nextGeneration(old.generation)
	}
	if !ns.replace(sh, &d, old, made) {
		return fmt.Errorf("miniaero: namespace %q is full", k.Namespace)
	}
	return nil
}

// Delete removes a record without the wire and says whether there was one.
func (s *Server) Delete(k Key) bool {
	ns, d, err := s.locate(k)
	if err != nil {
		return false
	}
	sh := ns.shard(&d)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	old := sh.records[d]
	if old == nil {
		return false
	}
	ns.remove(sh, &d, old)
	return !old.expired(s.clock.seconds())
}

// Records goes through the records of a namespace that have not expired, in no order. What is written meanwhile may
// be seen or not.
func (s *Server) Records(namespace string) iter.Seq2[[20]byte, Record] {
	return func(yield func([20]byte, Record) bool) {
		ns := s.namespaces[namespace]
		if ns == nil {
			return
		}
		now := s.clock.seconds()
		for i := range ns.shards {
			sh := &ns.shards[i]
			sh.mu.RLock()
			found := make([]scanned, 0, len(sh.records))
			for d, r := range sh.records {
				if !r.expired(now) {
					found = append(found, scanned{d, r})
				}
			}
			sh.mu.RUnlock()
			for _, f := range found {
				if !yield(f.digest, ns.export(f.record)) {
					return
				}
			}
		}
	}
}

// Len is the number of records in a namespace, those included that have expired and were not yet swept.
func (s *Server) Len(namespace string) int {
	if ns := s.namespaces[namespace]; ns != nil {
		return int(ns.count.Load())
	}
	return 0
}

// Memory is about how many bytes the records of a namespace take.
func (s *Server) Memory(namespace string) int64 {
	if ns := s.namespaces[namespace]; ns != nil {
		return ns.used.Load()
	}
	return 0
}

// FlushAll removes every record.
func (s *Server) FlushAll() {
	for _, ns := range s.namespaces {
		ns.removeIf(func(*record) bool { return true })
	}
}

// SetGeneration changes a record's generation, so that a test can see how it wraps; false when there is none.
func (s *Server) SetGeneration(k Key, generation uint16) bool {
	ns, d, err := s.locate(k)
	if err != nil || generation == 0 {
		return false
	}
	sh := ns.shard(&d)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	old := sh.records[d]
	if old == nil {
		return false
	}
	changed := *old
	changed.generation = generation
	sh.records[d] = &changed
	return true
}

func sortedNames(bins map[string]any) []string {
	names := make([]string, 0, len(bins))
	for n := range bins {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

func (ns *namespace) export(r *record) Record {
	out := Record{
		Set: ns.setName(r.set), Bins: make(map[string]any, r.nBins), Generation: r.generation,
		Updated: time.Unix(0, r.updated),
	}
	if r.void != 0 {
		out.Expires = time.Unix(int64(r.void)+epoch, 0)
	}
	for b := r.bins(); len(b) > 0; {
		o, n := parseOp(b)
		b = b[n:]
		out.Bins[string(o.name)] = valueOf(particle{o.particle, o.value})
	}
	return out
}

// valueOf is a particle as a Go value.
func valueOf(p particle) any {
	switch p.kind {
	case typeInteger:
		n, _ := int64Particle(p.bytes)
		return n
	case typeFloat:
		return floatOf(p.bytes)
	case typeBool:
		return p.bytes[0] != 0
	case typeString:
		return string(p.bytes)
	case typeList:
		all, _ := parseList(p.bytes)
		values := make([]any, len(all))
		for i, e := range all {
			values[i] = valueOf(particleOf(e))
		}
		return values
	case typeMap:
		values := map[any]any{}
		if m, ok := parseMap(p.bytes); ok {
			for _, pair := range m.pairs {
				values[keyOf(pair.key)] = valueOf(particleOf(pair.value))
			}
		}
		return values
	case typeNull:
		return nil
	}
	return slices.Clone(p.bytes)
}

// keyOf is the key of a map as a Go value that can be one: what is not simple becomes a string of its bytes.
func keyOf(b []byte) any {
	p := particleOf(b)
	switch p.kind {
	case typeInteger, typeFloat, typeBool, typeString:
		return valueOf(p)
	}
	return string(p.bytes)
}

// particleFrom is a Go value as a particle.
func particleFrom(v any) (particle, error) {
	switch v := v.(type) {
	case int:
		return integer(int64(v)), nil
	case int64:
		return integer(v), nil
	case float64:
		return particle{typeFloat, floatBytes(v)}, nil
	case bool:
		return particle{typeBool, []byte{boolByte(v)}}, nil
	case string:
		return particle{typeString, []byte(v)}, nil
	case []byte:
		return particle{typeBlob, slices.Clone(v)}, nil
	case []string:
		all := make([][]byte, len(v))
		for i, e := range v {
			all[i] = encodeRaw(typeString, []byte(e))
		}
		return particle{typeList, encodeList(all)}, nil
	case []any:
		all := make([][]byte, len(v))
		for i, e := range v {
			p, err := particleFrom(e)
			if err != nil {
				return particle{}, fmt.Errorf("element %d: %w", i, err)
			}
			all[i] = element(p)
		}
		return particle{typeList, encodeList(all)}, nil
	case map[any]any:
		m := mapping{flags: mapKeyOrdered}
		for k, e := range v {
			key, err := particleFrom(k)
			if err != nil {
				return particle{}, fmt.Errorf("key %v: %w", k, err)
			}
			p, err := particleFrom(e)
			if err != nil {
				return particle{}, fmt.Errorf("value of %v: %w", k, err)
			}
			m.put(element(key), element(p))
		}
		return particle{typeMap, m.encode()}, nil
	}
	return particle{}, fmt.Errorf("%T can't be kept: want int, int64, float64, bool, string, []byte, []string, []any or map[any]any", v)
}
