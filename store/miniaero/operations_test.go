package miniaero_test

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"bakeoff/store/miniaero"
)

// realServer names the variable with the host:port of a real server, against which TestOperations then runs as well:
// namespace test, nsup-period set, set optest free to be used.
const realServer = "MINIAERO_REAL_SERVER"

// step is one call of the client and its outcome: the code, and what came with it.
type step struct {
	name string
	do   func(c *as.Client, k func(string) *as.Key) (*as.Record, as.Error)
	want string
}

func code(err as.Error) string {
	if err == nil {
		return "ok"
	}
	if err.Matches(types.KEY_NOT_FOUND_ERROR) { // one of the client's constants is of a type of its own
		return "2"
	}
	ae := &as.AerospikeError{}
	if errors.As(err, &ae) {
		return fmt.Sprint(int(ae.ResultCode))
	}
	return err.Error()
}

// show writes an outcome so that equal ones are equal: bins and maps in order.
func show(rec *as.Record, err as.Error) string {
	out := code(err)
	if rec == nil {
		return out
	}
	names := make([]string, 0, len(rec.Bins))
	for n := range rec.Bins {
		names = append(names, n)
	}
	sort.Strings(names)
	out += fmt.Sprintf(" gen=%d", rec.Generation)
	if rec.Expiration != as.TTLDontExpire {
		out += fmt.Sprintf(" ttl=%d", (rec.Expiration+9)/10*10) // a slow machine lets some seconds pass
	}
	for _, n := range names {
		out += fmt.Sprintf(" %s=%v", n, rec.Bins[n])
	}
	return out
}

// policy is a write policy from a few words.
func policy(change func(*as.WritePolicy)) *as.WritePolicy {
	p := as.NewWritePolicy(0, 0)
	p.TotalTimeout = 5 * time.Second
	if change != nil {
		change(p)
	}
	return p
}

func action(a as.RecordExistsAction) *as.WritePolicy {
	return policy(func(p *as.WritePolicy) { p.RecordExistsAction = a })
}

func generation(g as.GenerationPolicy, n uint32) *as.WritePolicy {
	return policy(func(p *as.WritePolicy) { p.GenerationPolicy, p.Generation = g, n })
}

func ttl(seconds uint32) *as.WritePolicy {
	return policy(func(p *as.WritePolicy) { p.Expiration = seconds })
}

func put(p *as.WritePolicy, id string, bins as.BinMap) func(*as.Client, func(string) *as.Key) (*as.Record, as.Error) {
	return func(c *as.Client, k func(string) *as.Key) (*as.Record, as.Error) { return nil, c.Put(p, k(id), bins) }
}

func get(id string, bins ...string) func(*as.Client, func(string) *as.Key) (*as.Record, as.Error) {
	return func(c *as.Client, k func(string) *as.Key) (*as.Record, as.Error) { return c.Get(nil, k(id), bins...) }
}

func operate(id string, ops ...*as.Operation) func(*as.Client, func(string) *as.Key) (*as.Record, as.Error) {
	return operateWith(policy(nil), id, ops...)
}

func operateWith(p *as.WritePolicy, id string, ops ...*as.Operation) func(*as.Client, func(string) *as.Key) (*as.Record, as.Error) {
	return func(c *as.Client, k func(string) *as.Key) (*as.Record, as.Error) { return c.Operate(p, k(id), ops...) }
}

func remove(p *as.WritePolicy, id string) func(*as.Client, func(string) *as.Key) (*as.Record, as.Error) {
	return func(c *as.Client, k func(string) *as.Key) (*as.Record, as.Error) {
		there, err := c.Delete(p, k(id))
		if err == nil && !there {
			err = as.ErrKeyNotFound
		}
		return nil, err
	}
}

type bins = as.BinMap

var keyOrdered = as.NewMapPolicy(as.MapOrder.KEY_ORDERED, as.MapWriteMode.UPDATE)

var steps = []step{
	// Record-exists actions.
	{"get of none", get("a"), "2"},
	{"update only of none", put(action(as.UPDATE_ONLY), "a", bins{"x": 1}), "2"},
	{"replace only of none", put(action(as.REPLACE_ONLY), "a", bins{"x": 1}), "2"},
	{"create only of none", put(action(as.CREATE_ONLY), "a", bins{"x": 1, "y": "s"}), "ok"},
	{"create only of one", put(action(as.CREATE_ONLY), "a", bins{"x": 2}), "5"},
	{"update adds bins", put(action(as.UPDATE), "a", bins{"z": 1.5}), "ok"},
	{"is updated", get("a"), "ok gen=2 x=1 y=s z=1.5"},
	{"some bins", get("a", "z", "none"), "ok gen=2 z=1.5"},
	{"replace", put(action(as.REPLACE), "a", bins{"only": true}), "ok"},
	{"is replaced", get("a"), "ok gen=3 only=true"},
	{"replace only of one", put(action(as.REPLACE_ONLY), "a", bins{"b": []byte{1, 2}}), "ok"},
	{"is replaced again", get("a"), "ok gen=4 b=[1 2]"},

	// Generations.
	{"equal, wrong", put(generation(as.EXPECT_GEN_EQUAL, 3), "a", bins{"x": 1}), "3"},
	{"equal, right", put(generation(as.EXPECT_GEN_EQUAL, 4), "a", bins{"x": 1}), "ok"},
	{"greater, not", put(generation(as.EXPECT_GEN_GT, 5), "a", bins{"x": 1}), "3"},
	{"greater", put(generation(as.EXPECT_GEN_GT, 6), "a", bins{"x": 1}), "ok"},
	{"delete, wrong", remove(generation(as.EXPECT_GEN_EQUAL, 5), "a"), "3"},
	{"delete, right", remove(generation(as.EXPECT_GEN_EQUAL, 6), "a"), "ok"},
	{"delete of none", remove(policy(nil), "a"), "2"},
	{"durable delete", remove(policy(func(p *as.WritePolicy) { p.DurableDelete = true }), "a"), "25"},

	// Bins that go.
	{"two bins", put(policy(nil), "n", bins{"a": 1, "b": 2}), "ok"},
	{"one goes", put(policy(nil), "n", bins{"a": nil}), "ok"},
	{"one is left", get("n"), "ok gen=2 b=2"},
	{"the last goes", put(policy(nil), "n", bins{"b": nil}), "ok"},
	{"and the record", get("n"), "2"},
	{"nothing to a record that is not", put(policy(nil), "n", bins{"b": nil}), "2"},
	{"name of 15", put(policy(nil), "n", bins{"123456789012345": 1}), "ok"},

	{"name of 16", put(policy(nil), "n", bins{"1234567890123456": 1}), "21"},

	// Numbers and text.
	{"add to none", operate("op", as.AddOp(as.NewBin("i", 7)), as.GetBinOp("i")), "ok gen=1 i=7"},
	{"add, append, prepend", operate("op", as.AddOp(as.NewBin("i", -10)), as.AppendOp(as.NewBin("s", "bc")),
		as.PrependOp(as.NewBin("s", "a")), as.GetOp()), "ok gen=2 i=-3 s=abc"},
	{"add to text", operate("op", as.AddOp(as.NewBin("s", 1))), "12"},
	{"append to a number", operate("op", as.AppendOp(as.NewBin("i", "x"))), "12"},
	{"nothing of a failed operate", operate("op", as.PutOp(as.NewBin("new", 1)), as.AppendOp(as.NewBin("i", "x"))), "12"},
	{"is unchanged", get("op"), "ok gen=2 i=-3 s=abc"},
	{"add a float", operate("op", as.PutOp(as.NewBin("f", 1.5)), as.AddOp(as.NewBin("f", 0.25)), as.GetBinOp("f")), "ok gen=3 f=1.75"},
	{"header", operate("op", as.TouchOp(), as.GetHeaderOp()), "ok gen=4"},
	{"delete and write in one", operate("op", as.DeleteOp(), as.PutOp(as.NewBin("k", 1)), as.GetOp()), "ok gen=5 k=1"},
	{"delete alone", operate("op", as.DeleteOp()), "ok gen=0"},
	{"is gone", get("op"), "2"},
	{"touch of none", operate("op", as.TouchOp()), "2"},

	// Times to live.
	{"a hundred seconds", put(ttl(100), "t", bins{"a": 1}), "ok"},
	{"kept", operateWith(ttl(as.TTLDontUpdate), "t", as.PutOp(as.NewBin("a", 2)), as.GetBinOp("a")), "ok gen=2 ttl=100 a=2"},
	{"never", operateWith(ttl(as.TTLDontExpire), "t", as.PutOp(as.NewBin("a", 3)), as.GetBinOp("a")), "ok gen=3 a=3"},
	{"eleven years", put(ttl(11*365*24*3600), "t", bins{"a": 1}), "4"},

	// Lists.
	{"append", operate("l", as.ListAppendOp("l", "a"), as.ListAppendOp("l", "b", "c"), as.GetBinOp("l")), "ok gen=1 l=[1 3 [a b c]]"},
	{"insert", operate("l", as.ListInsertOp("l", 1, "x"), as.ListInsertOp("l", -1, 5, 6), as.GetBinOp("l")), "ok gen=2 l=[4 6 [a x b 5 6 c]]"},
	{"get", operate("l", as.ListGetOp("l", 0), as.ListGetOp("l", -1), as.ListSizeOp("l")), "ok gen=2 l=[a c 6]"},
	{"get behind the end", operate("l", as.ListGetOp("l", 6)), "26"},
	{"get range", operate("l", as.ListGetRangeOp("l", 1, 2), as.ListGetRangeFromOp("l", -2), as.ListGetRangeOp("l", 9, 2)), "ok gen=2 l=[[x b] [6 c] []]"},
	{"pop", operate("l", as.ListPopOp("l", 0), as.ListPopRangeOp("l", -2, 2), as.GetBinOp("l")), "ok gen=3 l=[a [6 c] [x b 5]]"},
	{"remove", operate("l", as.ListRemoveOp("l", 1), as.GetBinOp("l")), "ok gen=4 l=[1 [x 5]]"},
	{"set, increment", operate("l", as.ListSetOp("l", 0, 1), as.ListIncrementOp("l", 0, 41), as.GetBinOp("l")), "ok gen=5 l=[42 [42 5]]"},
	{"remove range", operate("l", as.ListAppendOp("l", 1, 2, 3), as.ListRemoveRangeOp("l", 1, 2), as.GetBinOp("l")), "ok gen=6 l=[5 2 [42 2 3]]"},
	{"sort", operate("l", as.ListAppendOp("l", 2, "z"), as.ListSortOp("l", as.ListSortFlagsDropDuplicates), as.GetBinOp("l")), "ok gen=7 l=[5 [2 3 42 z]]"},
	{"trim", operate("l", as.ListTrimOp("l", -2, 2), as.GetBinOp("l")), "ok gen=8 l=[2 [42 z]]"},
	{"trim that keeps all", operate("l", as.ListTrimOp("l", -5, 5), as.GetBinOp("l")), "ok gen=9 l=[0 [42 z]]"},
	{"by value", operate("l", as.ListGetByValueOp("l", "z", as.ListReturnTypeIndex), as.ListGetByValueOp("l", "q", as.ListReturnTypeCount)), "ok gen=9 l=[[1] 0]"},
	{"insert behind the end", operate("l", as.ListInsertOp("l", 4, "x"), as.GetBinOp("l")), "ok gen=10 l=[5 [42 z <nil> <nil> x]]"},
	{"insert before the start", operate("l", as.ListInsertOp("l", -6, "x")), "26"},
	{"insert a million behind", operate("l", as.ListInsertOp("l", 1<<20, "x")), "13"},
	{"insert a billion behind", operate("l", as.ListInsertOp("l", 1<<30, "x")), "13"},
	{"clear", operate("l", as.ListClearOp("l"), as.ListSizeOp("l")), "ok gen=11 l=0"},
	{"of another type", operate("l", as.PutOp(as.NewBin("i", 1)), as.ListAppendOp("i", 1)), "12"},
	{"read of a list that is not", operate("l", as.ListSizeOp("none")), "ok gen=11"},

	// Maps.
	{"put", operate("m", as.MapPutOp(keyOrdered, "m", "b", 2), as.MapPutOp(keyOrdered, "m", "a", 1), as.GetBinOp("m")), "ok gen=1 m=[1 2 [{a 1} {b 2}]]"},
	{"put items", operate("m", as.MapPutItemsOp(keyOrdered, "m", map[any]any{"c": "see", "a": 9}), as.MapSizeOp("m")), "ok gen=2 m=[3 3]"},
	{"by key", operate("m", as.MapGetByKeyOp("m", "c", as.MapReturnType.VALUE), as.MapGetByKeyOp("m", "a", as.MapReturnType.INDEX)), "ok gen=2 m=[see 0]"},
	{"by key, none", operate("m", as.MapGetByKeyOp("m", "q", as.MapReturnType.COUNT), as.MapGetByKeyOp("m", "q", as.MapReturnType.INDEX)), "ok gen=2 m=[0 -1]"},
	{"by keys", operate("m", as.MapGetByKeyListOp("m", []any{"a", "c", "q"}, as.MapReturnType.KEY)), "ok gen=2 m=[a c]"},
	{"increment", operate("m", as.MapIncrementOp(keyOrdered, "m", "a", 3), as.MapIncrementOp(keyOrdered, "m", "new", 5)), "ok gen=3 m=[12 5]"},
	{"by index, by rank", operate("m", as.MapGetByIndexOp("m", 0, as.MapReturnType.KEY), as.MapGetByRankOp("m", 0, as.MapReturnType.KEY)), "ok gen=3 m=[a b]"},
	{"key and value", operate("m", as.MapGetByIndexRangeCountOp("m", 0, 2, as.MapReturnType.KEY_VALUE)), "ok gen=3 m=[{a 12} {b 2}]"},
	{"remove by key", operate("m", as.MapRemoveByKeyOp("m", "a", as.MapReturnType.VALUE), as.MapRemoveByKeyListOp("m", []any{"b", "q"}, as.MapReturnType.COUNT)), "ok gen=4 m=[12 1]"},
	{"map clear", operate("m", as.MapClearOp("m"), as.MapSizeOp("m")), "ok gen=5 m=[<nil> 0]"},
	{"create only, there", operate("m", as.MapPutOp(keyOrdered, "m", "k", 1), as.MapPutOp(as.NewMapPolicy(as.MapOrder.UNORDERED, as.MapWriteMode.CREATE_ONLY), "m", "k", 2)), "24"},
	{"update only, not there", operate("m", as.MapPutOp(as.NewMapPolicy(as.MapOrder.UNORDERED, as.MapWriteMode.UPDATE_ONLY), "m", "k", 2)), "23"},

	// What is in lists and maps comes back as it went.
	{"nested", put(policy(nil), "nest", bins{"v": []any{1, -1, 1 << 40, "s", []byte{9}, 2.5, true, nil, []any{[]any{}}, map[any]any{"k": []any{1}}}}), "ok"},
	{"nested, back", get("nest"), "ok gen=1 v=[1 -1 1099511627776 s [9] 2.5 true <nil> [[]] map[k:[1]]]"},

	// Limits.
	{"too big", put(policy(nil), "big", bins{"b": make([]byte, 1<<20+1)}), "13"},
	{"after it", get("big"), "2"},
}

func TestOperations(t *testing.T) {
	s := miniaero.RunT(t)
	s.SetTime(time.Now().Truncate(time.Second)) // so that a time to live is still whole when it is read
	run := func(addr string) map[string]string {
		c := connect(t, addr, 8)
		k := func(id string) *as.Key { return key(t, "optest", id) }
		for _, id := range []string{"a", "n", "op", "t", "l", "m", "nest", "big"} {
			if _, err := c.Delete(nil, k(id)); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]string{}
		for _, step := range steps {
			if _, twice := got[step.name]; twice {
				t.Fatalf("step %q is there twice", step.name)
			}
			got[step.name] = show(step.do(c, k))
		}
		return got
	}
	got := run(s.Addr())
	for _, step := range steps {
		if got[step.name] != step.want {
			t.Errorf("%s: got %q, want %q", step.name, got[step.name], step.want)
		}
	}
	addr := os.Getenv(realServer)
	if addr == "" {
		t.Logf("set %s=host:port to compare with a real server", realServer)
		return
	}
	for name, real := range run(addr) {
		if got[name] != real {
			t.Errorf("%s: got %q, the real server says %q", name, got[name], real)
		}
	}
}

func TestBatches(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 8)
	k := func(id string) *as.Key { return key(t, "batch", id) }
	for _, id := range []string{"a", "b", "c"} {
		if err := c.Put(nil, k(id), bins{"n": len(id), "id": id}); err != nil {
			t.Fatal(err)
		}
	}
	there, err := c.BatchExists(nil, []*as.Key{k("a"), k("q"), k("c")})
	if err != nil || fmt.Sprint(there) != "[true false true]" {
		t.Errorf("exists: %v, %v", there, err)
	}
	heads, err := c.BatchGetHeader(nil, []*as.Key{k("a"), k("q")})
	if err != nil || heads[0] == nil || heads[0].Generation != 1 || heads[1] != nil {
		t.Errorf("headers: %v, %v", heads, err)
	}
	some, err := c.BatchGet(nil, []*as.Key{k("a"), k("b")}, "id")
	if err != nil || fmt.Sprint(some[0].Bins, some[1].Bins) != "map[id:a] map[id:b]" {
		t.Errorf("bins: %v, %v", some, err)
	}
	all := []as.BatchRecordIfc{
		as.NewBatchRead(nil, k("a"), []string{"id"}),
		as.NewBatchWrite(nil, k("b"), as.AddOp(as.NewBin("n", 10)), as.GetBinOp("n")),
		as.NewBatchDelete(nil, k("c")),
		as.NewBatchRead(nil, k("q"), nil),
		as.NewBatchWrite(nil, k("new"), as.PutOp(as.NewBin("n", 1))),
	}
	if err := c.BatchOperate(nil, all); err != nil {
		t.Fatal(err)
	}
	var codes []types.ResultCode
	for _, r := range all {
		codes = append(codes, r.BatchRec().ResultCode)
	}
	if want := []types.ResultCode{0, 0, 0, 2, 0}; fmt.Sprint(codes) != fmt.Sprint(want) {
		t.Errorf("codes: %v, want %v", codes, want)
	}
	if got := fmt.Sprint(all[1].BatchRec().Record.Bins["n"]); got != "[<nil> 11]" {
		t.Errorf("add and get in a batch: %s, want [<nil> 11]", got)
	}
	gone, err := c.BatchDelete(nil, nil, []*as.Key{k("a"), k("b"), k("q")})
	if err != nil || gone[0].ResultCode != 0 || gone[2].ResultCode != types.KEY_NOT_FOUND_ERROR {
		t.Errorf("delete: %v, %v", gone, err)
	}
	if n := s.Len("test"); n != 1 {
		t.Errorf("%d records are left, want the new one", n)
	}
}

// TestBigBatch: an answer of many frames, and all rows belong to their keys.
func TestBigBatch(t *testing.T) {
	s := miniaero.RunT(t)
	c := connect(t, s.Addr(), 8)
	const n = 3000
	keys := make([]*as.Key, n)
	for i := range keys {
		keys[i] = key(t, "batch", i)
		if i%10 == 0 {
			continue
		}
		if err := s.Put(miniaero.Key{Namespace: "test", Set: "batch", ID: i}, map[string]any{"n": i, "pad": strings.Repeat("x", 100)}, 0); err != nil {
			t.Fatal(err)
		}
	}
	records, err := c.BatchGet(nil, keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records {
		if (r == nil) != (i%10 == 0) || r != nil && r.Bins["n"] != i {
			t.Fatalf("record %d: %v", i, r)
		}
	}
}
