package drive

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// garbage keeps the driver's own memory from driving the collector. A client under test holds so little that Go collects
// whenever the heap has grown to its least goal, 4 MiB; some hundred KiB of histograms and workers within those come
// off what the client may allocate in between. With gRPC's client that was a fifth more collections, and 6 % more CPU
// for a call, which are not the client's. So the goal is raised by what the driver holds.
type garbage struct {
	percent uint64 // GOGC as it was found
	before  uint64 // live before the driver made its own
	own     uint64 // what it made
}

// findGarbage is called when the client is there and nothing else.
func findGarbage() garbage {
	liveHeap() // what pools keep lives through one collection: dialling's is not the client's own for long
	return garbage{percent: read("/gc/gogc:percent"), before: liveHeap()}
}

// made is called when the driver has made what it holds while it measures.
func (g *garbage) made() {
	live := liveHeap()
	g.own = live - min(live, g.before)
}

// collect leaves no garbage, and the goal where the client alone would have it.
func (g *garbage) collect() {
	live := liveHeap()
	if p := percentFor(g.percent, live-min(live, g.own), g.own); p != g.percent {
		debug.SetGCPercent(int(p))
	}
}

// restore is for a process that goes on.
func (g *garbage) restore() {
	if g.percent <= math.MaxInt32 {
		debug.SetGCPercent(int(g.percent))
	}
}

// leastGoal is the runtime's goal for a small heap at GOGC=100.
const leastGoal = 4 << 20

// percentFor is the GOGC under which a heap with client and own bytes that live is collected when a heap with the
// client's alone would be, under percent: the goal is own bytes higher. A collector that is off (or was never on)
// stays so.
func percentFor(percent, client, own uint64) uint64 {
	if percent == 0 || percent > math.MaxInt32 {
		return percent
	}
	share := float64(percent) / 100
	goal := max(leastGoal*share, float64(client)*(1+share)) + float64(own)
	// The runtime takes the larger of the two goals, so that the smaller percentage is the one that meets ours.
	return uint64(math.Round(100 * min(goal/leastGoal, goal/float64(client+own)-1)))
}

// liveHeap collects, and tells what is left.
func liveHeap() uint64 {
	runtime.GC()
	return read("/gc/heap/live:bytes")
}

// read is a counter of the runtime; 0 where it has none of that name, which leaves the collector as it is.
func read(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	if metrics.Read(s); s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
