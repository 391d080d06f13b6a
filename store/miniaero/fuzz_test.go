package miniaero

import (
	"bytes"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// sink is a connection that takes everything and says nothing.
type sink struct {
	net.Conn // nil: what is not below is not called
	taken    int
}

func (s *sink) Write(b []byte) (int, error)      { s.taken += len(b); return len(b), nil }
func (s *sink) SetWriteDeadline(time.Time) error { return nil }
func (s *sink) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3000} }

// offline is a server without a listener, and a session on it.
func offline() *session {
	o := Options{MaxMemory: 8 << 20}.defaulted()
	s := &Server{options: o, namespaces: map[string]*namespace{}, names: []string{"test"}}
	s.namespaces["test"] = newNamespace("test", &limits{memory: o.MaxMemory, recordSize: o.MaxRecordSize})
	return &session{server: s, conn: &sink{}}
}

// captured hands the bodies of all frames of one kind in the transcripts to add.
func captured(f *testing.F, kind byte, fromClient bool, add func(body []byte)) {
	f.Helper()
	for _, path := range transcripts(f) {
		for _, fr := range readTranscript(f, path) {
			if fr.kind() == kind && fr.fromClient == fromClient {
				add(fr.body())
			}
		}
	}
}

// FuzzInfo: whatever is asked, each name is answered once on a line of its own.
func FuzzInfo(f *testing.F) {
	captured(f, typeInfo, true, func(body []byte) { f.Add(body) })
	for _, s := range []string{"", "\n\n", "a\x00b", "sets/", "sets/test/x/y", "truncate:namespace=test;set=a;lut=-1", "truncate:;;=", "sindex-create:ns=test;indexname=i;indexdata=,"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := offline()
		if !c.info(body) {
			t.Fatal("the connection ended")
		}
		out := string(c.out[protoHeader:])
		names := infoNames(body)
		if n := strings.Count(out, "\n"); n != len(names) {
			t.Fatalf("%d lines for %d names: %q", n, len(names), out)
		}
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, names[0]+"\t") {
				t.Fatalf("%q does not answer %q", line, names[0])
			}
			names = names[1:]
		}
	})
}

// FuzzMessage: no message breaks the server; every one is answered by whole frames, and what it wrote can be read.
func FuzzMessage(f *testing.F) {
	captured(f, typeMessage, true, func(body []byte) { f.Add(body) })
	f.Fuzz(func(t *testing.T, body []byte) {
		c := offline()
		for range 2 { // the second time there may be a record
			c.out = c.out[:0]
			if !c.message(body) {
				t.Fatal("the connection ended")
			}
			for out := c.out; len(out) > 0; {
				kind, size, ok := c.header(out)
				if !ok || kind != typeMessage || len(out) < protoHeader+size {
					t.Fatalf("the answer is no frame: % x", out)
				}
				decodeAnswers(t, out[protoHeader:protoHeader+size])
				out = out[protoHeader+size:]
			}
		}
		ns := c.server.namespaces["test"]
		var used int64
		for i := range ns.shards {
			for _, r := range ns.shards[i].records {
				used += r.cost()
				ns.export(r)
				n := 0
				for b := r.bins(); len(b) > 0; n++ {
					o, size := parseOp(b)
					if size == 0 || !validParticle(o.particle, o.value) || len(o.name) > maxBinName {
						t.Fatalf("a record holds % x", b)
					}
					b = b[size:]
				}
				if n != int(r.nBins) {
					t.Fatalf("a record of %d bins says it has %d", n, r.nBins)
				}
			}
		}
		if used != ns.used.Load() {
			t.Fatalf("records take %d bytes, %d are counted", used, ns.used.Load())
		}
	})
}

// seedParticles adds the lists and maps of the captures, and some corners.
func seedParticles(f *testing.F) {
	add := func(b []byte) {
		if n, ok := opsLength(b, 1); ok {
			o, _ := parseOp(b[:n])
			f.Add(slices.Clone(o.value))
		}
	}
	captured(f, typeMessage, true, func(body []byte) {
		var r request
		if !parseMessage(body, &r) {
			f.Fatal("a captured message is garbled")
		}
		for ops := r.ops; len(ops) > 0; {
			_, n := parseOp(ops)
			add(ops[:n])
			ops = ops[n:]
		}
	})
	for _, b := range [][]byte{
		{}, {0xC1}, {0xDD, 0xFF, 0xFF, 0xFF, 0xFF}, {0xDF, 0x80, 0, 0, 0}, {0x82, 0xC7, 0, 1, 0xC0, 1, 2}, {0x91, 0xA0}, {0x91, 0xA1, 1},
		{0x91, 0xA1, 17}, {0x93, 0xC0, 0xC2, 0xC3}, {0xD9}, {0xCB, 0x7F, 0xF8, 0, 0, 0, 0, 0, 1}, bytes.Repeat([]byte{0x91}, 100),
		append(bytes.Repeat([]byte{0x91}, 63), 0x90), {0xC7, 0, 1}, {0xD4, 1, 2}, {0xCF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
	} {
		f.Add(b)
	}
}

// FuzzParticle: what is taken for a list or a map is one, comes out as it went in, and is in order with itself.
func FuzzParticle(f *testing.F) {
	seedParticles(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := valueLength(b); n > len(b) {
			t.Fatalf("a value of %d bytes in %d", n, len(b))
		}
		if list, ok := parseList(b); ok {
			again, ok := parseList(encodeList(list))
			if !ok || !slices.EqualFunc(list, again, bytes.Equal) {
				t.Fatalf("list % x became % x", list, again)
			}
			valueOf(particle{typeList, b})
			for _, e := range list {
				checkElement(t, e)
			}
			for i := 1; i < min(len(list), 20); i++ {
				if compare(list[i-1], list[i]) != -compare(list[i], list[i-1]) {
					t.Fatalf("% x and % x are each before the other", list[i-1], list[i])
				}
			}
		}
		if m, ok := parseMap(b); ok {
			again, ok := parseMap(m.encode())
			if !ok || len(again.pairs) != len(m.pairs) || again.flags != m.flags {
				t.Fatalf("map %v became %v", m, again)
			}
			valueOf(particle{typeMap, b})
		}
	})
}

func checkElement(t *testing.T, e []byte) {
	if compare(e, e) != 0 {
		t.Fatalf("% x differs from itself", e)
	}
	p := particleOf(e)
	if p.kind != typeNull && p.kind != typeHLL && p.kind != typeGeoJSON {
		if !validParticle(p.kind, p.bytes) {
			t.Fatalf("% x became a particle that is none: %v", e, p)
		}
		if compare(element(p), e) != 0 && p.kind != typeFloat {
			if h, _ := headOf(e); h.payload > 0 && h.rank != rankString || p.kind != typeBlob {
				t.Fatalf("% x became % x", e, element(p))
			}
		}
	}
}

// FuzzCDT: any operation on any list or map leaves a list or map, and answers with a particle.
func FuzzCDT(f *testing.F) {
	list, m := []byte{0x93, 1, 2, 0xA2, 3, 'a'}, []byte{0x82, 0xC7, 0, 1, 0xC0, 1, 2}
	for code := range byte(111) {
		bin := list
		if code >= firstMapOp {
			bin = m
		}
		f.Add(bin, []byte{0, code, 0x91, 1})
		f.Add(bin, []byte{0, code, 0x92, 7, 1})
		f.Add(bin, []byte{0, code, 0x92, 0xFF, 0xFE})
	}
	f.Add(list, []byte{0, 2, 0x91, 0x92, 1, 2})
	f.Add(list, []byte{0, 23, 0x92, 0xCE, 0, 1, 0, 7, 0x92, 1, 2})
	f.Add([]byte{0x90}, []byte{0, 16})
	f.Fuzz(func(t *testing.T, value, call []byte) {
		for _, kind := range []byte{typeNull, typeList, typeMap, typeString} {
			if !validParticle(kind, value) {
				continue
			}
			bin := operation{opRead, kind, []byte("b"), value}
			before := slices.Clone(value)
			if kind != typeNull {
				if p, code := cdtRead(bin, call); code == OK && p.kind != typeHLL && p.kind != typeGeoJSON && !validParticle(p.kind, p.bytes) {
					t.Fatalf("read % x of % x answers %v", call, value, p)
				}
			}
			changed, p, code := cdtModify(bin, call)
			if code == OK && (!validParticle(changed.kind, changed.bytes) || changed.kind != typeList && changed.kind != typeMap) {
				t.Fatalf("% x made % x of % x", call, changed.bytes, value)
			}
			if code == OK && p.kind != typeHLL && p.kind != typeGeoJSON && !validParticle(p.kind, p.bytes) {
				t.Fatalf("% x of % x answers %v", call, value, p)
			}
			if !bytes.Equal(before, value) {
				t.Fatalf("% x changed a record in place", call)
			}
		}
	})
}

// FuzzFilter: any expression is understood or refused.
func FuzzFilter(f *testing.F) {
	f.Add([]byte{0x93, 1, 0x93, 0x51, 2, 0xA1, 'i', 0xFB})
	f.Add([]byte{0x92, 18, 0x93, 6, 0x93, 81, 1, 0xA1, 't', 0xC3})
	f.Add([]byte{0x93, 16, 0xC3, 0x93, 17, 0xC2, 0xC0})
	f.Add([]byte{0x92, 82, 0xA1, 'i'})
	var w draft
	w.set([]byte("i"), typeInteger, int64Bytes(5))
	w.set([]byte("t"), typeBool, []byte{1})
	r := &record{data: w.encode(nil), nBins: 2}
	f.Fuzz(func(t *testing.T, e []byte) {
		if code := offline().filter(e, r); code != OK && code != FilteredOut && code != ParameterError {
			t.Fatalf("code %d", code)
		}
	})
}
