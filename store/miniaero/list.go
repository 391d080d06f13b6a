package miniaero

import "slices"

// Operations of lists.
const (
	listAppend           = 1
	listAppendItems      = 2
	listInsert           = 3
	listInsertItems      = 4
	listPop              = 5
	listPopRange         = 6
	listRemove           = 7
	listRemoveRange      = 8
	listSet              = 9
	listTrim             = 10
	listClear            = 11
	listIncrement        = 12
	listSort             = 13
	listSize             = 16
	listGet              = 17
	listGetRange         = 18
	listGetByIndex       = 19
	listGetByRank        = 21
	listGetByValue       = 22
	listGetByValueList   = 23
	listGetByIndexRange  = 24
	listGetByValueRange  = 25
	listGetByRankRange   = 26
	listRemoveByIndex    = 32
	listRemoveByRank     = 34
	listRemoveByValue    = 35
	listRemoveValueList  = 36
	listRemoveIndexRange = 37
	listRemoveValueRange = 38
	listRemoveRankRange  = 39
)

// list is an unordered list, apart.
type list [][]byte

// maxListPadding bounds the empty places that an insert far behind the end makes; no record can have more elements.
const maxListPadding = 1 << 20

// parsePlainList is parseList for operations: it refuses ordered lists.
func parsePlainList(b []byte) (list, bool) {
	l, ok := parseList(b)
	if !ok {
		return nil, false
	}
	if len(l) > 0 {
		if h, _ := headOf(l[0]); h.rank == rankExt {
			return nil, false
		}
	}
	return l, true
}

func (l list) read(c cdtCall) (particle, ResultCode) {
	switch c.code {
	case listSize:
		return integer(int64(len(l))), OK
	case listGet:
		i, code := l.place(c)
		if code != OK {
			return particle{}, code
		}
		return particleOf(l[i]), OK
	case listGetRange:
		from, to, code := l.part(c)
		if code != OK {
			return particle{}, code
		}
		return particle{typeList, encodeList(l[from:to])}, OK
	}
	sel, code := l.find(c)
	if code != OK {
		return particle{}, code
	}
	return sel.result()
}

// place is the element that argument 0 means.
func (l list) place(c cdtCall) (int, ResultCode) {
	index, code := c.int(0, 0)
	if code != OK || !c.has(1, 1) {
		return 0, ParameterError
	}
	i, ok := at(index, len(l))
	if !ok {
		return 0, NotApplicable
	}
	return i, OK
}

// part is the range that arguments 0 (where) and 1 (how many; left out: all) mean.
func (l list) part(c cdtCall) (from, to int, code ResultCode) {
	index, code := c.int(0, 0)
	count, code2 := c.int(1, int64(len(l))+1<<32)
	if code != OK || code2 != OK || !c.has(1, 2) {
		return 0, 0, ParameterError
	}
	from, to = span(index, count, len(l))
	return from, to, OK
}

// modifyList does one changing operation. Those that add make the list when it is not there.
func modifyList(bin operation, c cdtCall) (changed, answer particle, code ResultCode) {
	var l list
	switch bin.particle {
	case typeNull:
		if c.code != listAppend && c.code != listAppendItems && c.code != listInsert && c.code != listInsertItems && c.code != listSet {
			return changed, answer, NotApplicable
		}
	case typeList:
		var ok bool
		if l, ok = parsePlainList(bin.value); !ok {
			return changed, answer, ParameterError
		}
	default:
		return changed, answer, BinTypeError
	}
	if l, answer, code = l.modify(c); code == OK {
		changed = particle{typeList, encodeList(l)}
	}
	return changed, answer, code
}

func (l list) modify(c cdtCall) (list, particle, ResultCode) {
	switch c.code {
	case listAppend, listAppendItems:
		return l.append(c)
	case listInsert, listInsertItems:
		return l.insert(c)
	case listSet:
		return l.set(c)
	case listPop:
		i, code := l.place(c)
		if code != OK {
			return l, particle{}, code
		}
		return slices.Delete(slices.Clone(l), i, i+1), particleOf(l[i]), OK
	case listRemove:
		i, code := l.place(c)
		if code != OK {
			return l, particle{}, code
		}
		return slices.Delete(l, i, i+1), integer(1), OK
	case listPopRange, listRemoveRange, listTrim:
		return l.cut(c)
	case listClear:
		return nil, particle{}, OK
	case listIncrement:
		return l.increment(c)
	case listSort:
		return l.sort(c)
	}
	return l.removeFound(c)
}

// append adds a value or the values of a list to the end and answers the new size. Arguments behind the value
// are the order that a new list is to have, and flags; only the unordered without flags is done here.
func (l list) append(c cdtCall) (list, particle, ResultCode) {
	if !c.has(1, 3) || !c.plain(1) {
		return l, particle{}, ParameterError
	}
	added, ok := list{c.arg(0)}, true
	if c.code == listAppendItems {
		added, ok = parsePlainList(c.arg(0))
	}
	if !ok {
		return l, particle{}, ParameterError
	}
	l = append(l, added...)
	return l, integer(int64(len(l))), OK
}

// plain says whether the arguments from i on are all zero.
func (c cdtCall) plain(i int) bool {
	for ; i < len(c.args); i++ {
		if n, code := c.int(i, 0); code != OK || n != 0 {
			return false
		}
	}
	return true
}

func (l list) insert(c cdtCall) (list, particle, ResultCode) {
	index, code := c.int(0, 0)
	if code != OK || !c.has(2, 3) || !c.plain(2) {
		return l, particle{}, ParameterError
	}
	added, ok := list{c.arg(1)}, true
	if c.code == listInsertItems {
		added, ok = parsePlainList(c.arg(1))
	}
	if !ok {
		return l, particle{}, ParameterError
	}
	if l, code = l.pad(&index); code != OK {
		return l, particle{}, code
	}
	l = slices.Insert(l, int(index), added...)
	return l, integer(int64(len(l))), OK
}

// pad fills the places between the end and an index behind it with nothing, and makes the index count from the
// start.
func (l list) pad(index *int64) (list, ResultCode) {
	if *index < 0 {
		*index += int64(len(l))
	}
	gap := *index - int64(len(l))
	switch {
	case *index < 0:
		return l, NotApplicable
	case gap > maxListPadding:
		return l, RecordTooBig
	}
	for ; gap > 0; gap-- {
		l = append(l, []byte{0xC0})
	}
	return l, OK
}

func (l list) set(c cdtCall) (list, particle, ResultCode) {
	index, code := c.int(0, 0)
	if code != OK || !c.has(2, 3) || !c.plain(2) {
		return l, particle{}, ParameterError
	}
	if l, code = l.pad(&index); code != OK {
		return l, particle{}, code
	}
	if int(index) == len(l) {
		return append(l, c.arg(1)), particle{}, OK
	}
	l[index] = c.arg(1)
	return l, particle{}, OK
}

// cut takes a range out, or for a trim all but the range. Pop answers what it took, the others how many.
func (l list) cut(c cdtCall) (list, particle, ResultCode) {
	if c.code == listTrim && !c.has(2, 2) {
		return l, particle{}, ParameterError
	}
	from, to, code := l.part(c)
	if code != OK {
		return l, particle{}, code
	}
	if c.code == listTrim {
		return l[from:to], integer(int64(len(l) - (to - from))), OK
	}
	answer := integer(int64(to - from))
	if c.code == listPopRange {
		answer = particle{typeList, encodeList(l[from:to])}
	}
	return slices.Delete(l, from, to), answer, OK
}

// increment adds to a number in the list, one unless told how much, and answers the sum.
func (l list) increment(c cdtCall) (list, particle, ResultCode) {
	index, code := c.int(0, 0)
	if code != OK || !c.has(1, 4) || !c.plain(2) {
		return l, particle{}, ParameterError
	}
	i, ok := at(index, len(l))
	if !ok {
		return l, particle{}, NotApplicable
	}
	delta := c.arg(1)
	if delta == nil {
		delta = encodeInt(1)
	}
	sum, code := add(l[i], delta, false)
	if code != OK {
		return l, particle{}, code
	}
	l[i] = sum
	return l, particleOf(sum), OK
}

// add sums two numbers, or takes the second from the first.
func add(a, b []byte, minus bool) ([]byte, ResultCode) {
	x, intX := decodeInt(a)
	y, intY := decodeInt(b)
	if minus {
		y = -y
	}
	if intX && intY {
		return encodeInt(x + y), OK
	}
	f, floatX := decodeFloat(a)
	g, floatY := decodeFloat(b)
	if minus {
		g = -g
	}
	switch {
	case floatX && floatY:
		return encodeFloat(f + g), OK
	case floatX && intY:
		return encodeFloat(f + float64(y)), OK
	}
	return nil, ParameterError
}

// Flags of a sort.
const (
	sortDescending = 1
	sortUnique     = 2
)

func (l list) sort(c cdtCall) (list, particle, ResultCode) {
	flags, code := c.int(0, 0)
	if code != OK || !c.has(0, 1) || flags&^(sortDescending|sortUnique) != 0 {
		return l, particle{}, ParameterError
	}
	slices.SortStableFunc(l, compare)
	if flags&sortUnique != 0 {
		l = slices.CompactFunc(l, func(a, b []byte) bool { return compare(a, b) == 0 })
	}
	if flags&sortDescending != 0 {
		slices.Reverse(l)
	}
	return l, particle{}, OK
}

// listRemovals pairs the operations that remove what they find with those that only answer it.
var listRemovals = map[int]int{
	listRemoveByIndex: listGetByIndex, listRemoveByRank: listGetByRank, listRemoveByValue: listGetByValue,
	listRemoveValueList: listGetByValueList, listRemoveIndexRange: listGetByIndexRange,
	listRemoveValueRange: listGetByValueRange, listRemoveRankRange: listGetByRankRange,
}

func (l list) removeFound(c cdtCall) (list, particle, ResultCode) {
	get, ok := listRemovals[c.code]
	if !ok {
		return l, particle{}, ParameterError
	}
	c.code = get
	sel, code := l.find(c)
	if code != OK {
		return l, particle{}, code
	}
	answer, code := sel.result()
	gone := sel.places()
	kept := make(list, 0, len(l))
	for i, e := range l {
		if !gone[i] {
			kept = append(kept, e)
		}
	}
	return kept, answer, code
}

// find does the operations that select by index, rank or value; argument 0 is what to answer.
func (l list) find(c cdtCall) (*selection, ResultCode) {
	s := &selection{entries: make([]entry, len(l))}
	for i, e := range l {
		s.entries[i] = entry{value: e, place: i}
	}
	switch c.code {
	case listGetByIndex:
		return s.byIndex(c)
	case listGetByIndexRange:
		return s.byIndexRange(c)
	case listGetByRank:
		return s.byRank(c)
	case listGetByRankRange:
		return s.byRankRange(c)
	case listGetByValue:
		s.single = false
		return s.byValues(c, c.args[min(1, len(c.args)):])
	case listGetByValueList:
		wanted, ok := parseList(c.arg(1))
		if !ok {
			return nil, ParameterError
		}
		return s.byValues(c, wanted)
	case listGetByValueRange:
		return s.byInterval(c, false)
	}
	return nil, ParameterError
}
