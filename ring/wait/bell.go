package wait

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fantail-io/fantail/ring/invariant"
)

// Bell wakes one waiter. Ring is called at most once for each Arm.
type Bell struct {
	group *Group
	chunk *chunk
	place uint
	bit   uint64 // of place
	ring  func()
	// closed bells do nothing: their place may be another one's.
	closed atomic.Bool
}

// Arm asks to be woken. The waiter must look once more for work before it sleeps.
func (b *Bell) Arm() {
	if b.closed.Load() || b.chunk.armed.Load()&b.bit != 0 {
		return
	}
	// First count, then arm; wakers and Disarm do the opposite. So parked is never lower
	// than the number of armed bells, and a waker that finds 0 has overlooked nobody.
	b.group.parked.Add(1) // pairs(parked): before the waiter's second look
	invariant.Yield()
	b.chunk.armed.Or(b.bit)
}

// Disarm takes the request back; it is harmless where the bell has rung.
func (b *Bell) Disarm() {
	if !b.closed.Load() {
		b.disarm()
	}
}

func (b *Bell) disarm() {
	if b.chunk.armed.Load()&b.bit != 0 && b.chunk.armed.And(^b.bit)&b.bit != 0 {
		b.group.parked.Add(-1)
	}
}

// Close disarms the bell and takes it out of its group. Once the first call returns, ring is
// not running and will not be called: what ring uses may be torn down. Arm and Disarm of a
// closed bell do nothing.
func (b *Bell) Close() {
	if b.closed.Swap(true) {
		return
	}
	b.disarm()
	for b.chunk.ringing[b.place].Load() != 0 { // a waker has begun; ring does not block
		runtime.Gosched()
	}
	b.group.mu.Lock()
	defer b.group.mu.Unlock()
	b.chunk.bells[b.place] = nil
	b.chunk.used &^= b.bit
}

// chunk is the place of 64 bells. Who is armed is in one word, so that a waker finds the one
// that is armed among a thousand that are not.
type chunk struct {
	armed   atomic.Uint64
	ringing [64]atomic.Int32 // wakers that may be calling ring
	bells   [64]*Bell        // Group.mu; a waker reads the one whose armed bit it has taken
	used    uint64           // Group.mu
}

// Group is the set of waiters of one event. The zero Group is ready.
type Group struct {
	parked atomic.Int32
	chunks atomic.Pointer[[]*chunk] // copied on change
	mu     sync.Mutex               // guards changes of chunks, and in them
}

// NewBell adds a waiter; ring must wake it without blocking. Remove it with Close.
func (g *Group) NewBell(ring func()) *Bell {
	g.mu.Lock()
	defer g.mu.Unlock()
	b := &Bell{group: g, chunk: g.room(), ring: ring}
	b.place = uint(bits.TrailingZeros64(^b.chunk.used))
	b.bit = 1 << b.place
	b.chunk.used |= b.bit
	b.chunk.bells[b.place] = b
	return b
}

// room is a chunk with a free place. Under mu.
func (g *Group) room() *chunk {
	var chunks []*chunk
	if old := g.chunks.Load(); old != nil {
		chunks = *old
	}
	for _, c := range chunks {
		if c.used != ^uint64(0) {
			return c
		}
	}
	added := &chunk{}
	chunks = append(chunks[:len(chunks):len(chunks)], added)
	g.chunks.Store(&chunks)
	return added
}

// Wake rings every armed bell. While nobody is armed it costs one load.
func (g *Group) Wake() {
	if g.parked.Load() != 0 { // pairs(parked)
		g.wake()
	}
}

func (g *Group) wake() {
	chunks := g.chunks.Load()
	if chunks == nil {
		return
	}
	for _, c := range *chunks {
		for armed := c.armed.Load(); armed != 0; armed &= armed - 1 {
			c.wake(g, uint(bits.TrailingZeros64(armed)))
		}
	}
}

// wake rings the bell in that place, if it is still armed.
func (c *chunk) wake(g *Group, place uint) {
	bit := uint64(1) << place
	c.ringing[place].Add(1) // pairs(ringing): before the bell is disarmed
	if c.armed.And(^bit)&bit != 0 {
		g.parked.Add(-1)
		invariant.Yield()
		c.bells[place].ring()
	}
	c.ringing[place].Add(-1)
}

// Sleeper parks an ordinary goroutine on a channel, which costs the Go scheduler less than
// blocking a thread.
type Sleeper struct {
	*Bell
	woken chan struct{}
}

// NewSleeper adds a sleeping goroutine to g. Close it when done.
func (g *Group) NewSleeper() *Sleeper {
	woken := make(chan struct{}, 1)
	return &Sleeper{woken: woken, Bell: g.NewBell(func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	})}
}

// C delivers one value for each time the bell has rung; a value left over from an earlier
// Arm is a harmless, early wake-up.
func (s *Sleeper) C() <-chan struct{} { return s.woken }
