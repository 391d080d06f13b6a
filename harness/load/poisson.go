package load

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Poisson has the calls come as those of many independent users do: at random, with the rate as their mean, so that
// sometimes several come at once.
var Poisson = Arrivals{
	Name: "poisson", Doc: "at random by the seed, as calls of many independent users come",
	pacer: func(c curve, window time.Duration, seed uint64) Pacer {
		return &poisson{curve: c, window: window, seed: seed, starts: []float64{0}}
	},
}

// blockSize is how many arrivals one source of random numbers gives.
const blockSize = 1024

// poisson turns a Poisson process of rate 1 into one of the curve's rate. The arrivals of rate 1 have distances that are
// exponential; those of block k come from a source of the seed and the stream k alone, so that any block can be made
// again, and At is a function of n and the seed whoever asks in whatever order. Kept are where each block starts (8 bytes
// for 1024 calls) and the blocks that were asked for last.
type poisson struct {
	curve
	window time.Duration
	seed   uint64

	recent [2]atomic.Pointer[block] // by the last bit of the block's number

	mu     sync.Mutex
	starts []float64 // where block k starts; known up to some block
}

// block is the arrivals of one block, in expected calls from the start of the load.
type block struct {
	number   uint64
	arrivals [blockSize]float64
}

func (p *poisson) At(n uint64) (time.Duration, bool) {
	k := n / blockSize
	b := p.recent[k%2].Load()
	if b == nil || b.number != k {
		b = p.find(k)
	}
	return p.at(b.arrivals[n%blockSize], p.window)
}

// find makes block k, and those before it whose end is not known yet.
func (p *poisson) find(k uint64) *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.recent[k%2].Load(); b != nil && b.number == k {
		return b // another worker came first
	}
	for next := uint64(len(p.starts)); next <= k; next++ {
		p.starts = append(p.starts, p.make(next - 1).arrivals[blockSize-1])
	}
	b := p.make(k)
	p.recent[k%2].Store(b)
	return b
}

func (p *poisson) make(k uint64) *block {
	b := &block{number: k}
	r := rand.New(rand.NewPCG(p.seed, k))
	x := p.starts[k]
	for i := range b.arrivals {
		x += r.ExpFloat64()
		b.arrivals[i] = x
	}
	return b
}
