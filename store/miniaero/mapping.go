package miniaero

import "slices"

// Operations of maps.
const (
	mapSetType        = 64
	mapAdd            = 65
	mapAddItems       = 66
	mapPut            = 67
	mapPutItems       = 68
	mapReplace        = 69
	mapReplaceItems   = 70
	mapIncrement      = 73
	mapDecrement      = 74
	mapClear          = 75
	mapRemoveKey      = 76
	mapRemoveIndex    = 77
	mapRemoveRank     = 79
	mapRemoveKeyList  = 81
	mapRemoveValue    = 82
	mapRemoveValues   = 83
	mapRemoveKeys     = 84
	mapRemoveIndexes  = 85
	mapRemoveInterval = 86
	mapRemoveRanks    = 87
	mapSize           = 96
	mapGetKey         = 97
	mapGetIndex       = 98
	mapGetRank        = 100
	mapGetValue       = 102
	mapGetKeys        = 103
	mapGetIndexes     = 104
	mapGetInterval    = 105
	mapGetRanks       = 106
	mapGetKeyList     = 107
	mapGetValues      = 108
)

// Flags of a map, kept in the extension that is its first key.
const (
	mapKeyOrdered   = 1
	mapValueOrdered = 2
	mapPreserve     = 8 // an answer whose order means something
)

type pair struct{ key, value []byte }

// mapping is a map, apart. An ordered one is kept in the order of its keys, others in the order in which they came.
type mapping struct {
	flags byte
	pairs []pair
	index map[string]int // places by key, of a large unordered map that is being searched
}

func parseMap(b []byte) (*mapping, bool) {
	h, ok := headOf(b)
	if !ok || h.rank != rankMap {
		return nil, false
	}
	all, ok := elements(b[h.size:], h.children)
	if !ok {
		return nil, false
	}
	m := &mapping{}
	if len(all) > 0 {
		if h, _ := headOf(all[0]); h.rank == rankExt {
			m.flags = h.extType & (mapKeyOrdered | mapValueOrdered)
			all = all[2:]
		}
	}
	m.pairs = make([]pair, 0, len(all)/2)
	for i := 0; i < len(all); i += 2 {
		m.pairs = append(m.pairs, pair{all[i], all[i+1]})
	}
	if m.flags != 0 {
		m.order(m.flags) // as it came from a client, it need not be in order
	}
	return m, true
}

func (m *mapping) encode() []byte {
	size := 5 + 4
	for _, p := range m.pairs {
		size += len(p.key) + len(p.value)
	}
	n := len(m.pairs)
	if m.flags != 0 {
		n++
	}
	b := appendCount(make([]byte, 0, size), n, 0x80, 0xDE)
	if m.flags != 0 {
		b = append(b, 0xC7, 0, m.flags, 0xC0)
	}
	for _, p := range m.pairs {
		b = append(b, p.key...)
		b = append(b, p.value...)
	}
	return b
}

// find is the place of a key, and where it belongs if there is none.
func (m *mapping) find(key []byte) (int, bool) {
	if m.flags&mapKeyOrdered != 0 {
		return slices.BinarySearchFunc(m.pairs, key, func(p pair, k []byte) int { return compare(p.key, k) })
	}
	if len(m.pairs) > smallMap {
		m.makeIndex()
		if i, ok := m.index[plainKey(key)]; ok {
			return i, true
		}
		return len(m.pairs), false
	}
	i := slices.IndexFunc(m.pairs, func(p pair) bool { return compare(p.key, key) == 0 })
	if i < 0 {
		return len(m.pairs), false
	}
	return i, true
}

// smallMap is a number of pairs up to which to look at each is quicker than to build an index.
const smallMap = 16

func (m *mapping) makeIndex() {
	if m.index != nil {
		return
	}
	m.index = make(map[string]int, len(m.pairs))
	for i, p := range m.pairs {
		m.index[plainKey(p.key)] = i
	}
}

// plainKey is the same for keys that compare as equal, however they are encoded.
func plainKey(b []byte) string {
	h, _ := headOf(b)
	switch h.rank {
	case rankInt:
		n, _ := decodeInt(b)
		return string(encodeInt(n))
	case rankFloat:
		f, _ := decodeFloat(b)
		return string(encodeFloat(f))
	case rankString, rankBlob, rankGeo:
		return string([]byte{0xC1, byte(h.rank)}) + string(b[h.size:])
	}
	return string(b)
}

func (m *mapping) put(key, value []byte) {
	i, ok := m.find(key)
	if ok {
		m.pairs[i].value = value
		return
	}
	m.pairs = slices.Insert(m.pairs, i, pair{key, value})
	if m.index != nil {
		m.index[plainKey(key)] = i
	}
}

// order makes the map one of the given order.
func (m *mapping) order(flags byte) {
	m.flags = flags
	if flags&mapKeyOrdered != 0 {
		slices.SortStableFunc(m.pairs, func(a, b pair) int { return compare(a.key, b.key) })
	}
}

func (m *mapping) read(c cdtCall) (particle, ResultCode) {
	if c.code == mapSize {
		return integer(int64(len(m.pairs))), OK
	}
	s, code := m.selected(c)
	if code != OK {
		return particle{}, code
	}
	return s.result()
}

// modifyMap does one changing operation. Those that add make the map when it is not there.
func modifyMap(bin operation, c cdtCall) (changed, answer particle, code ResultCode) {
	m := &mapping{}
	switch bin.particle {
	case typeNull:
		switch c.code {
		case mapAdd, mapAddItems, mapPut, mapPutItems, mapIncrement, mapDecrement, mapSetType:
		case mapReplace, mapReplaceItems:
			return changed, answer, ElementNotFound
		default:
			return changed, answer, NotApplicable
		}
	case typeMap:
		var ok bool
		if m, ok = parseMap(bin.value); !ok {
			return changed, answer, ParameterError
		}
	default:
		return changed, answer, BinTypeError
	}
	if answer, code = m.modify(c, bin.particle == typeNull); code == OK {
		changed = particle{typeMap, m.encode()}
	}
	return changed, answer, code
}

func (m *mapping) modify(c cdtCall, fresh bool) (particle, ResultCode) {
	switch c.code {
	case mapSetType:
		flags, code := c.int(0, 0)
		if code != OK || !c.has(1, 1) || !validOrder(flags) {
			return particle{}, ParameterError
		}
		m.order(byte(flags))
		return particle{}, OK
	case mapClear:
		m.pairs = nil
		return particle{}, OK
	case mapAdd, mapPut, mapReplace:
		if !c.has(2, 3) {
			return particle{}, ParameterError
		}
		return m.write(c, []pair{{c.arg(0), c.arg(1)}}, 2, fresh)
	case mapAddItems, mapPutItems, mapReplaceItems:
		items, ok := parseMap(c.arg(0))
		if !ok || !c.has(1, 2) {
			return particle{}, ParameterError
		}
		return m.write(c, items.pairs, 1, fresh)
	case mapIncrement, mapDecrement:
		return m.increment(c, fresh)
	}
	return m.removeFound(c)
}

func validOrder(flags int64) bool { return flags == 0 || flags == 1 || flags == 3 }

// write puts pairs; the argument at order says what a new map is to be. It answers the size. All the keys of an
// add must be new and all of a replace must be there, or nothing is written.
func (m *mapping) write(c cdtCall, pairs []pair, order int, fresh bool) (particle, ResultCode) {
	flags, code := c.int(order, 0)
	if code != OK || !validOrder(flags) {
		return particle{}, ParameterError
	}
	if fresh {
		m.order(byte(flags))
	}
	for _, p := range pairs {
		_, there := m.find(p.key)
		switch c.code {
		case mapAdd, mapAddItems:
			if there {
				return particle{}, ElementExists
			}
		case mapReplace, mapReplaceItems:
			if !there {
				return particle{}, ElementNotFound
			}
		}
	}
	m.putAll(pairs)
	return integer(int64(len(m.pairs))), OK
}

// putAll puts many pairs at the cost of one sort, not of one insertion each.
func (m *mapping) putAll(pairs []pair) {
	if m.flags&mapKeyOrdered == 0 || len(pairs) == 1 {
		for _, p := range pairs {
			m.put(p.key, p.value)
		}
		return
	}
	var fresh []pair
	for _, p := range pairs {
		if i, ok := m.find(p.key); ok {
			m.pairs[i].value = p.value
		} else {
			fresh = append(fresh, p)
		}
	}
	m.pairs = append(m.pairs, fresh...)
	m.order(m.flags)
	m.pairs = slices.CompactFunc(m.pairs, func(a, b pair) bool { return compare(a.key, b.key) == 0 })
}

// increment adds to (or takes from) the number under a key, which starts from zero, and answers the sum.
func (m *mapping) increment(c cdtCall, fresh bool) (particle, ResultCode) {
	flags, code := c.int(2, 0)
	if code != OK || !c.has(2, 3) || !validOrder(flags) {
		return particle{}, ParameterError
	}
	if fresh {
		m.order(byte(flags))
	}
	key, delta := c.arg(0), c.arg(1)
	old := encodeInt(0)
	if i, ok := m.find(key); ok {
		old = m.pairs[i].value
	} else if _, float := decodeFloat(delta); float {
		old = encodeFloat(0)
	}
	sum, code := add(old, delta, c.code == mapDecrement)
	if code != OK {
		return particle{}, code
	}
	m.put(key, sum)
	return particleOf(sum), OK
}

// mapRemovals pairs the operations that remove what they find with those that only answer it.
var mapRemovals = map[int]int{
	mapRemoveKey: mapGetKey, mapRemoveIndex: mapGetIndex, mapRemoveRank: mapGetRank, mapRemoveKeyList: mapGetKeyList,
	mapRemoveValue: mapGetValue, mapRemoveValues: mapGetValues, mapRemoveKeys: mapGetKeys,
	mapRemoveIndexes: mapGetIndexes, mapRemoveInterval: mapGetInterval, mapRemoveRanks: mapGetRanks,
}

func (m *mapping) removeFound(c cdtCall) (particle, ResultCode) {
	get, ok := mapRemovals[c.code]
	if !ok {
		return particle{}, ParameterError
	}
	c.code = get
	s, code := m.selected(c)
	if code != OK {
		return particle{}, code
	}
	answer, code := s.result()
	gone := s.places()
	kept := make([]pair, 0, len(m.pairs))
	for i, p := range m.pairs {
		if !gone[i] {
			kept = append(kept, p)
		}
	}
	m.pairs = kept
	return answer, code
}

// selected does the operations that select by key, index, rank or value; argument 0 is what to answer. The index
// of a pair is its place by key, also in an unordered map.
func (m *mapping) selected(c cdtCall) (*selection, ResultCode) {
	s := &selection{isMap: true, entries: make([]entry, len(m.pairs))}
	for i, p := range m.pairs {
		s.entries[i] = entry{p.key, p.value, i}
	}
	if m.flags&mapKeyOrdered == 0 {
		slices.SortStableFunc(s.entries, func(a, b entry) int { return compare(a.key, b.key) })
	}
	rest := c.args[min(1, len(c.args)):]
	switch c.code {
	case mapGetKey:
		s.single = true
		return s.byKeys(c, rest)
	case mapGetIndex:
		return s.byIndex(c)
	case mapGetRank:
		return s.byRank(c)
	case mapGetIndexes:
		return s.byIndexRange(c)
	case mapGetRanks:
		return s.byRankRange(c)
	case mapGetKeys:
		return s.byInterval(c, true)
	case mapGetInterval:
		return s.byInterval(c, false)
	case mapGetValue:
		return s.byValues(c, rest)
	case mapGetKeyList, mapGetValues:
		wanted, ok := parseList(c.arg(1))
		if !ok {
			return nil, ParameterError
		}
		if c.code == mapGetKeyList {
			return s.byKeys(c, wanted)
		}
		return s.byValues(c, wanted)
	}
	return nil, ParameterError
}
