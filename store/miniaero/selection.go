package miniaero

import "slices"

// What an operation that selects elements answers.
const (
	returnNone     = 0
	returnIndex    = 1
	returnRevIndex = 2
	returnRank     = 3
	returnRevRank  = 4
	returnCount    = 5
	returnKey      = 6
	returnValue    = 7
	returnPairs    = 8
	returnExists   = 13
	returnMap      = 16
	returnSorted   = 17

	returnInverted = 0x10000
)

// entry is an element of a list, or a pair of a map, and its place there.
type entry struct {
	key, value []byte
	place      int
}

// selection is what an operation found: places in entries, which are in order of their index.
type selection struct {
	entries []entry
	isMap   bool
	picked  []int
	single  bool // the operation means one element, so the answer is no list
	wish    int64
	ranks   []int // entries by rank, made when asked for
	rankOf  []int // ranks by entry, likewise
}

// wants reads argument 0 and checks the number of arguments.
func (s *selection) wants(c cdtCall, least, most int) ResultCode {
	wish, code := c.int(0, 0)
	if code != OK || !c.has(least, most) {
		return ParameterError
	}
	s.wish = wish
	return OK
}

func (s *selection) byIndex(c cdtCall) (*selection, ResultCode) {
	return s.one(c, func(i int) int { return i })
}

func (s *selection) byRank(c cdtCall) (*selection, ResultCode) {
	return s.one(c, func(i int) int { return s.ranked()[i] })
}

func (s *selection) one(c cdtCall, pick func(int) int) (*selection, ResultCode) {
	if code := s.wants(c, 2, 2); code != OK {
		return nil, code
	}
	index, code := c.int(1, 0)
	if code != OK {
		return nil, code
	}
	i, ok := at(index, len(s.entries))
	if !ok {
		return nil, NotApplicable
	}
	s.single = true
	s.picked = []int{pick(i)}
	return s, OK
}

func (s *selection) byIndexRange(c cdtCall) (*selection, ResultCode) {
	return s.some(c, func(i int) int { return i })
}

func (s *selection) byRankRange(c cdtCall) (*selection, ResultCode) {
	return s.some(c, func(i int) int { return s.ranked()[i] })
}

func (s *selection) some(c cdtCall, pick func(int) int) (*selection, ResultCode) {
	if code := s.wants(c, 2, 3); code != OK {
		return nil, code
	}
	index, code := c.int(1, 0)
	count, code2 := c.int(2, int64(len(s.entries))+1<<32)
	if code != OK || code2 != OK {
		return nil, ParameterError
	}
	from, to := span(index, count, len(s.entries))
	for i := from; i < to; i++ {
		s.picked = append(s.picked, pick(i))
	}
	return s, OK
}

// byValues picks the elements that equal one of the wanted values.
func (s *selection) byValues(c cdtCall, wanted [][]byte) (*selection, ResultCode) {
	return s.equal(c, wanted, func(e entry) []byte { return e.value })
}

// byKeys picks the pairs whose key is one of the wanted.
func (s *selection) byKeys(c cdtCall, wanted [][]byte) (*selection, ResultCode) {
	return s.equal(c, wanted, func(e entry) []byte { return e.key })
}

func (s *selection) equal(c cdtCall, wanted [][]byte, part func(entry) []byte) (*selection, ResultCode) {
	if code := s.wants(c, 2, 2); code != OK {
		return nil, code
	}
	sorted := slices.Clone(wanted)
	slices.SortFunc(sorted, compare)
	for i, e := range s.entries {
		if _, ok := slices.BinarySearchFunc(sorted, part(e), compare); ok {
			s.picked = append(s.picked, i)
		}
	}
	return s, OK
}

// byInterval picks the values (or keys) from argument 1 up to but not including argument 2; either may be nil or
// left out, which is no bound.
func (s *selection) byInterval(c cdtCall, keys bool) (*selection, ResultCode) {
	if code := s.wants(c, 2, 3); code != OK {
		return nil, code
	}
	isNil := func(b []byte) bool { return b == nil || b[0] == 0xC0 }
	low, high := c.arg(1), c.arg(2)
	for i, e := range s.entries {
		v := e.value
		if keys {
			v = e.key
		}
		if (isNil(low) || compare(v, low) >= 0) && (isNil(high) || compare(v, high) < 0) {
			s.picked = append(s.picked, i)
		}
	}
	return s, OK
}

// ranked are the entries by their values, equal ones in order of their index.
func (s *selection) ranked() []int {
	if s.ranks == nil {
		s.ranks = make([]int, len(s.entries))
		for i := range s.ranks {
			s.ranks[i] = i
		}
		slices.SortStableFunc(s.ranks, func(a, b int) int { return compare(s.entries[a].value, s.entries[b].value) })
	}
	return s.ranks
}

// rank is the place of an entry among the ranked.
func (s *selection) rank(i int) int {
	if s.rankOf == nil {
		s.rankOf = make([]int, len(s.entries))
		for r, e := range s.ranked() {
			s.rankOf[e] = r
		}
	}
	return s.rankOf[i]
}

// final are the picked entries, or those that are not when the answer is to be inverted.
func (s *selection) final() []int {
	if s.wish&returnInverted == 0 {
		return s.picked
	}
	in := make([]bool, len(s.entries))
	for _, i := range s.picked {
		in[i] = true
	}
	var rest []int
	for i := range s.entries {
		if !in[i] {
			rest = append(rest, i)
		}
	}
	return rest
}

// places marks the final entries by their place in the list or map.
func (s *selection) places() map[int]bool {
	m := map[int]bool{}
	for _, i := range s.final() {
		m[s.entries[i].place] = true
	}
	return m
}

// result is the answer in the form that was wished for.
func (s *selection) result() (particle, ResultCode) {
	picked := s.final()
	single := s.single && s.wish&returnInverted == 0
	n := len(s.entries)
	var each func(i int) []byte
	switch s.wish &^ returnInverted {
	case returnNone:
		return particle{}, OK
	case returnCount:
		return integer(int64(len(picked))), OK
	case returnExists:
		return particle{typeBool, []byte{boolByte(len(picked) > 0)}}, OK
	case returnIndex:
		each = func(i int) []byte { return encodeInt(int64(i)) }
	case returnRevIndex:
		each = func(i int) []byte { return encodeInt(int64(n - 1 - i)) }
	case returnRank:
		each = func(i int) []byte { return encodeInt(int64(s.rank(i))) }
	case returnRevRank:
		each = func(i int) []byte { return encodeInt(int64(n - 1 - s.rank(i))) }
	case returnValue:
		each = func(i int) []byte { return s.entries[i].value }
	case returnKey:
		each = func(i int) []byte { return s.entries[i].key }
	case returnPairs, returnMap, returnSorted:
	default:
		return particle{}, ParameterError
	}
	if each == nil || !s.isMap && s.wish&^returnInverted == returnKey {
		return s.pairs(picked)
	}
	if single {
		return s.alone(picked, each), OK
	}
	all := make([][]byte, len(picked))
	for k, i := range picked {
		all[k] = each(i)
	}
	return particle{typeList, encodeList(all)}, OK
}

// alone is the answer of an operation that means one element: -1 for a place that there is not, nothing for a
// value.
func (s *selection) alone(picked []int, each func(int) []byte) particle {
	if len(picked) == 0 {
		if w := s.wish &^ returnInverted; w >= returnIndex && w <= returnRevRank {
			return integer(-1)
		}
		return particle{}
	}
	return particleOf(each(picked[0]))
}

func (s *selection) pairs(picked []int) (particle, ResultCode) {
	if !s.isMap {
		return particle{}, ParameterError
	}
	m := mapping{flags: mapPreserve}
	switch s.wish &^ returnInverted {
	case returnMap:
		m.flags = 0
	case returnSorted:
		m.flags = mapKeyOrdered
	}
	for _, i := range picked {
		m.pairs = append(m.pairs, pair{s.entries[i].key, s.entries[i].value})
	}
	return particle{typeMap, m.encode()}, OK
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
