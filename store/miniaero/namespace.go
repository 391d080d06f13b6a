package miniaero

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	partitionCount = 4096
	shardCount     = 256
	maxSets        = 4095
)

// partitionOf is the partition that a digest belongs to.
func partitionOf(d *digest) int { return int(d[0]) | int(d[1]&0x0F)<<8 }

// shard is a part of a namespace under one lock: the partitions whose low byte is the same. The lock covers
// the map only, for records never change.
type shard struct {
	mu      sync.RWMutex
	records map[digest]*record
	_       [32]byte // so that two locks do not share a cache line
}

// namespace is a set of records, and the names of the sets that they are in.
type namespace struct {
	name   string
	limits *limits
	shards [shardCount]shard
	used   atomic.Int64 // bytes, about
	count  atomic.Int64

	sets    sync.RWMutex
	setIDs  map[string]uint16
	setList []string // by id; id 0 is "no set"
	objects [maxSets + 1]atomic.Int64
}

// limits bound what a namespace holds; zero is no bound.
type limits struct {
	memory     int64
	records    int64
	recordSize int
	ttl        time.Duration
}

func newNamespace(name string, l *limits) *namespace {
	ns := &namespace{name: name, limits: l, setIDs: map[string]uint16{"": 0}, setList: []string{""}}
	for i := range ns.shards {
		ns.shards[i].records = map[digest]*record{}
	}
	return ns
}

func (ns *namespace) shard(d *digest) *shard { return &ns.shards[d[0]] }

// get returns the record, expired or not, or nil.
func (ns *namespace) get(d *digest) *record {
	s := ns.shard(d)
	s.mu.RLock()
	r := s.records[*d]
	s.mu.RUnlock()
	return r
}

// setID finds or makes the id of a set; false when there are too many or the name is too long.
func (ns *namespace) setID(name []byte) (uint16, bool) {
	ns.sets.RLock()
	id, ok := ns.setIDs[string(name)]
	ns.sets.RUnlock()
	if ok {
		return id, true
	}
	if len(name) > maxSetName {
		return 0, false
	}
	ns.sets.Lock()
	defer ns.sets.Unlock()
	if id, ok := ns.setIDs[string(name)]; ok {
		return id, true
	}
	if len(ns.setList) > maxSets {
		return 0, false
	}
	id = uint16(len(ns.setList))
	ns.setIDs[string(name)] = id
	ns.setList = append(ns.setList, string(name))
	return id, true
}

// lookupSet is the id of a set if it has ever been written to.
func (ns *namespace) lookupSet(name []byte) (uint16, bool) {
	ns.sets.RLock()
	defer ns.sets.RUnlock()
	id, ok := ns.setIDs[string(name)]
	return id, ok
}

func (ns *namespace) setName(id uint16) string {
	ns.sets.RLock()
	defer ns.sets.RUnlock()
	return ns.setList[id]
}

// setNames lists the sets in the order in which they were first written to.
func (ns *namespace) setNames() []string {
	ns.sets.RLock()
	defer ns.sets.RUnlock()
	return append([]string(nil), ns.setList[1:]...)
}

// replace puts a record in the place of old (nil: of none) in s, which the caller has locked. It fails when
// the namespace is full; a record that does not grow always fits.
func (ns *namespace) replace(s *shard, d *digest, old, r *record) bool {
	grown := r.cost()
	if old != nil {
		grown -= old.cost()
	}
	used := ns.used.Add(grown)
	if max := ns.limits.memory; max > 0 && grown > 0 && used > max {
		ns.used.Add(-grown)
		return false
	}
	if old == nil {
		n := ns.count.Add(1)
		if max := ns.limits.records; max > 0 && n > max {
			ns.count.Add(-1)
			ns.used.Add(-grown)
			return false
		}
		ns.objects[r.set].Add(1)
	}
	s.records[*d] = r
	return true
}

// remove takes a record out of s, which the caller has locked.
func (ns *namespace) remove(s *shard, d *digest, old *record) {
	delete(s.records, *d)
	ns.used.Add(-old.cost())
	ns.count.Add(-1)
	ns.objects[old.set].Add(-1)
}

// removeIf removes every record that doomed picks, one shard at a time.
func (ns *namespace) removeIf(doomed func(*record) bool) (removed int) {
	for i := range ns.shards {
		s := &ns.shards[i]
		s.mu.Lock()
		for d, r := range s.records {
			if doomed(r) {
				ns.remove(s, &d, r)
				removed++
			}
		}
		if len(s.records) == 0 {
			s.records = map[digest]*record{} // a Go map does not give its room back
		}
		s.mu.Unlock()
	}
	return removed
}
