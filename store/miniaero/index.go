package miniaero

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
)

// A secondary index here is a promise, not a structure: a query that may use one looks at every record of its set.

// indexes are the secondary indexes that were asked for.
type indexes struct {
	mu  sync.Mutex
	all map[indexID]secondary
}

type indexID struct{ namespace, name string }

// secondary is an index over the integers of one bin.
type secondary struct{ set, bin string }

const maxIndexes = 256

// indexInfo does the info commands of secondary indexes.
func (s *Server) indexInfo(command, path, text string) string {
	if command == "sindex" {
		return s.indexStatistics(path)
	}
	p, ok := infoParameters(text)
	namespace, name := p["ns"], p["indexname"]
	if namespace == "" {
		namespace = p["namespace"]
	}
	if !ok || name == "" || s.namespaces[namespace] == nil {
		return "ERROR:4:bad or missing namespace or indexname"
	}
	id := indexID{namespace, name}
	x := &s.indexes
	x.mu.Lock()
	defer x.mu.Unlock()
	_, there := x.all[id]
	switch command {
	case "sindex-exists":
		return fmt.Sprint(there)
	case "sindex-delete":
		if !there {
			return "ERROR:201:no index"
		}
		delete(x.all, id)
		return "ok"
	}
	if there {
		return "ERROR:200:index already exists"
	}
	bin, kind, ok := strings.Cut(p["indexdata"], ",")
	if !ok || bin == "" || !strings.EqualFold(kind, "numeric") || p["indextype"] != "" && !strings.EqualFold(p["indextype"], "default") {
		return "ERROR:4:only numeric indexes of whole bins are supported"
	}
	if len(x.all) >= maxIndexes {
		return "ERROR:4:too many indexes"
	}
	if x.all == nil {
		x.all = map[indexID]secondary{}
	}
	x.all[id] = secondary{p["set"], bin}
	return "ok"
}

func (s *Server) indexStatistics(path string) string {
	namespace, name, _ := strings.Cut(path, "/")
	s.indexes.mu.Lock()
	index, there := s.indexes.all[indexID{namespace, name}]
	s.indexes.mu.Unlock()
	if !there {
		return "ERROR:201:no index"
	}
	ns := s.namespaces[namespace]
	var entries int64
	if id, known := ns.lookupSet([]byte(index.set)); known {
		entries = ns.objects[id].Load()
	}
	return fmt.Sprintf("entries=%d;load_pct=100;load_time=0", entries)
}

// indexQuery picks the records whose bin lies in a range, ends included.
type indexQuery struct {
	bin       []byte
	low, high int64
}

// query reads an index range: a count of 1, a bin's name, its type, the two ends. There must be an index for it.
func (x *indexes) query(namespace, set string, b []byte) (*indexQuery, ResultCode) {
	if len(b) < 2 || b[0] != 1 || len(b) < 2+int(b[1])+1 {
		return nil, ParameterError
	}
	q := &indexQuery{bin: b[2 : 2+b[1]]}
	kind, rest := b[2+b[1]], b[3+int(b[1]):]
	if kind != typeInteger || len(rest) != 24 || binary.BigEndian.Uint32(rest) != 8 || binary.BigEndian.Uint32(rest[12:]) != 8 {
		return nil, ParameterError
	}
	q.low, q.high = int64(binary.BigEndian.Uint64(rest[4:])), int64(binary.BigEndian.Uint64(rest[16:]))
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, index := range x.all {
		if id.namespace == namespace && index.set == set && index.bin == string(q.bin) {
			return q, OK
		}
	}
	return nil, IndexNotFound
}

// match returns the value by which a record is in the range, as it is sent along: little-endian.
func (q *indexQuery) match(r *record) ([]byte, bool) {
	bin, found := r.bin(q.bin)
	if !found || bin.particle != typeInteger {
		return nil, false
	}
	n, _ := int64Particle(bin.value)
	return binary.LittleEndian.AppendUint64(nil, uint64(n)), n >= q.low && n <= q.high
}
