package miniaero

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The transcripts are what a real server (Community Edition 8.1.2.0) was asked by the real client, in the order of
// their names, and what it answered. Here its requests are sent again, byte for byte.

// frame is one frame of a transcript.
type frame struct {
	conn       string
	fromClient bool
	bytes      []byte
}

func (f frame) body() []byte { return f.bytes[protoHeader:] }
func (f frame) kind() byte   { return f.bytes[1] }

var frameLine = regexp.MustCompile(`^\[\+ *[0-9.]+ms\] (conn\d+) (C->S|S->C) frame`)

func readTranscript(t testing.TB, path string) []frame {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var frames []frame
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := frameLine.FindStringSubmatch(line); m != nil {
			frames = append(frames, frame{conn: m[1], fromClient: m[2] == "C->S"})
			continue
		}
		if len(line) < 60 || line[8:10] != "  " || len(frames) == 0 {
			continue
		}
		if _, err := hex.DecodeString(line[:8]); err != nil {
			continue
		}
		raw, err := hex.DecodeString(strings.Join(strings.Fields(line[10:58]), ""))
		if err != nil {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		last := &frames[len(frames)-1]
		last.bytes = append(last.bytes, raw...)
	}
	for _, f := range frames {
		if _, size, ok := (*session)(nil).header(f.bytes); !ok || size != len(f.body()) {
			t.Fatalf("%s: a frame of %d bytes says that its body has %d", path, len(f.bytes), size)
		}
	}
	return frames
}

func transcripts(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(paths) < 69 {
		t.Fatalf("%d transcripts, %v", len(paths), err)
	}
	return paths // sorted
}

// answer is one decoded message from a server.
type answer struct {
	reply
	fields []string // type=value
	ops    []string // code/particle name=value
}

func decodeAnswers(t *testing.T, b []byte) []answer {
	t.Helper()
	var all []answer
	for len(b) > 0 {
		if len(b) < messageHeader || b[0] != messageHeader {
			t.Fatalf("an answer of %d bytes is garbled: % x", len(b), b)
		}
		var a answer
		be := func(at, n int) (v uint32) {
			for _, c := range b[at : at+n] {
				v = v<<8 | uint32(c)
			}
			return v
		}
		a.info1, a.info3, a.code = b[1], b[3], ResultCode(b[5])
		a.generation, a.void, a.index = uint16(be(6, 4)), be(10, 4), be(14, 4)
		a.nFields, a.nOps = int(be(18, 2)), int(be(20, 2))
		b = b[messageHeader:]
		for range a.nFields {
			size := int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])
			a.fields = append(a.fields, fmt.Sprintf("%d=%x", b[4], b[5:4+size]))
			b = b[4+size:]
		}
		for range a.nOps {
			o, n := parseOp(b)
			if n == 0 {
				t.Fatalf("an operation of an answer is garbled: % x", b)
			}
			a.ops = append(a.ops, fmt.Sprintf("%d/%d %s=%x", o.code, o.particle, o.name, o.value))
			b = b[n:]
		}
		all = append(all, a)
	}
	return all
}

func (a answer) String() string {
	return fmt.Sprintf("code=%d generation=%d void=%d index=%d info=%#x/%#x fields=%v ops=%v",
		a.code, a.generation, a.void, a.index, a.info1, a.info3, a.fields, a.ops)
}

// exchange is a request and all that came back for it.
type exchange struct {
	request frame
	want    []answer // of a message
	info    string   // of an info request
}

func exchanges(t *testing.T, path string) []exchange {
	var all []exchange
	for _, f := range readTranscript(t, path) {
		switch {
		case f.fromClient:
			all = append(all, exchange{request: f})
		case f.kind() == typeInfo:
			all[len(all)-1].info += string(f.body())
		default:
			last := &all[len(all)-1]
			last.want = append(last.want, decodeAnswers(t, f.body())...)
		}
	}
	return all
}

// Moments of the captures, in the seconds of void times: a touch with a ttl of 100 was answered 533739586, a write
// with one of 500 after what had 2 had expired, 533739989.
const (
	whenCaptured = 533739586 - 100
	whenExpired  = 533739989 - 500
)

func TestReplay(t *testing.T) {
	s := RunT(t)
	conns := map[string]net.Conn{}
	t.Cleanup(func() {
		for _, c := range conns {
			c.Close()
		}
	})
	for _, path := range transcripts(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
			s.SetTime(time.Unix(epoch+whenCaptured, 0))
			if name >= "75" {
				s.SetTime(time.Unix(epoch+whenExpired, 0))
			}
			for i, x := range exchanges(t, path) {
				s.arrange(t, x)
				c := conns[x.request.conn]
				if c == nil {
					c = dial(t, s)
					conns[x.request.conn] = c
				}
				if _, err := c.Write(x.request.bytes); err != nil {
					t.Fatal(err)
				}
				if x.request.kind() == typeInfo {
					checkInfo(t, string(readFrame(t, c)), x.info)
					continue
				}
				var got []answer
				for len(got) < len(x.want) {
					got = append(got, decodeAnswers(t, readFrame(t, c))...)
				}
				checkAnswers(t, i, got, x.want)
			}
		})
	}
}

func dial(t testing.TB, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

// readFrame reads one frame and returns its body.
func readFrame(t testing.TB, c net.Conn) []byte {
	t.Helper()
	head := make([]byte, protoHeader)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatalf("read an answer: %v", err)
	}
	_, size, ok := (*session)(nil).header(head)
	if !ok {
		t.Fatalf("the answer starts with % x", head)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(c, body); err != nil {
		t.Fatalf("read an answer of %d bytes: %v", size, err)
	}
	return body
}

// checkAnswers compares answers; those of a scan in no order, for a real server scans with several threads. With
// a limit a scan may pick whichever records it likes.
func checkAnswers(t *testing.T, exchange int, got, want []answer) {
	t.Helper()
	text := func(all []answer) []string {
		var s []string
		for _, a := range all {
			s = append(s, a.String())
		}
		if len(all) > 1 && all[0].nFields > 0 {
			slices.Sort(s[:len(s)-1])
		}
		return s
	}
	g, w := text(got), text(want)
	if len(want) == 3 && want[0].nFields > 0 { // the capture with a limit of 2
		if len(got) != 3 || got[0].String() == got[1].String() || got[2].String() != want[2].String() {
			t.Errorf("exchange %d: got %v, want two records and the end", exchange, g)
		}
		return
	}
	for i := range max(len(g), len(w)) {
		a, b := "nothing", "nothing"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("exchange %d, message %d:\n got %s\nwant %s", exchange, i, a, b)
		}
	}
}

// checkInfo compares names, their order, and the values; but for the features, of which a client needs only some,
// and the statistics of an index.
func checkInfo(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Fatalf("info: got %q, want %q", got, want)
	}
	for i := range w {
		name, value, _ := strings.Cut(g[i], "\t")
		wantName, wantValue, _ := strings.Cut(w[i], "\t")
		if name == wantName && name == "features" {
			real := strings.Split(wantValue, ";")
			for _, f := range strings.Split(value, ";") {
				if !slices.Contains(real, f) {
					t.Errorf("feature %q is none of a real server", f)
				}
			}
			continue
		}
		if name == wantName && strings.HasPrefix(name, "sindex/") {
			if !strings.Contains(value, "entries=5;") || !strings.Contains(value, "load_pct=100") {
				t.Errorf("statistics of an index of 5: %q", value)
			}
			continue
		}
		if g[i] != w[i] {
			t.Errorf("info: got %q, want %q", g[i], w[i])
		}
	}
}

// arrange puts in place what must have been there before a request, for the captures do not show how it came to be:
// the records that are answered, and one that is deleted.
func (s *Server) arrange(t *testing.T, x exchange) {
	t.Helper()
	var r request
	if x.request.kind() != typeMessage {
		return
	}
	if !parseMessage(x.request.body(), &r) {
		t.Fatal("the request of the capture is garbled")
	}
	switch r.kind() {
	case KindRead:
		s.place(t, "demo", r.digest, x.want[0])
	case KindDelete:
		s.place(t, "demo", r.digest, x.want[0])
	case KindBatch:
		rows := (&session{server: s}).rows
		i := 0
		rows(&r, func(row *request, _ uint32) bool {
			if row.kind() != KindWrite {
				s.place(t, "demo", row.digest, x.want[i])
			}
			i++
			return true
		})
	case KindScan:
		for _, a := range x.want {
			for _, f := range a.fields {
				if d, ok := strings.CutPrefix(f, "4="); ok {
					raw, _ := hex.DecodeString(d)
					s.place(t, "scanset", digest(raw), a)
				}
			}
		}
	}
}

// place makes the record that an answer shows, unless there is one.
func (s *Server) place(t *testing.T, set string, d digest, a answer) {
	t.Helper()
	ns := s.namespaces["test"]
	sh := ns.shard(&d)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if a.code != OK || sh.records[d] != nil {
		return
	}
	if len(a.ops) == 0 { // only its being there is shown
		a.ops = []string{"1/1 n=0000000000000001"}
	}
	id, _ := ns.setID([]byte(set))
	var w draft
	for _, o := range a.ops {
		var code, particle byte
		var name, value string
		head, text, _ := strings.Cut(o, "=")
		if _, err := fmt.Sscanf(head, "%d/%d %s", &code, &particle, &name); err != nil {
			t.Fatal(err)
		}
		value = text
		raw, err := hex.DecodeString(value)
		if err != nil {
			t.Fatal(err)
		}
		w.set([]byte(name), particle, raw)
	}
	ns.replace(sh, &d, nil, &record{
		data: w.encode(nil), nBins: uint16(w.live), generation: max(a.generation, 1), void: a.void,
		updated: s.clock.now().UnixNano(), set: id,
	})
}
