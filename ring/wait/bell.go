package wait

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fantail-io/fantail/ring/invariant"
)

// Bell wakes one waiter. Ring is called at most once for each Arm.
type Bell struct {
	group   *Group
	ring    func()
	armed   atomic.Uint32
	ringing atomic.Int32 // wakers that may be calling ring
}

// Arm asks to be woken. The waiter must look once more for work before it sleeps.
func (b *Bell) Arm() {
	if b.armed.Load() == 1 {
		return
	}
	// First count, then arm; wakers and Disarm do the opposite. So parked is never lower
	// than the number of armed bells, and a waker that finds 0 has overlooked nobody.
	b.group.parked.Add(1) // pairs(parked): before the waiter's second look
	invariant.Yield()
	b.armed.Store(1)
}

// Disarm takes the request back; it is harmless where the bell has rung.
func (b *Bell) Disarm() {
	if b.armed.CompareAndSwap(1, 0) {
		b.group.parked.Add(-1)
	}
}

// Group is the set of waiters of one event. The zero Group is ready.
type Group struct {
	parked atomic.Int32
	bells  atomic.Pointer[[]*Bell] // copied on change
	mu     sync.Mutex              // guards changes of bells
}

// NewBell adds a waiter; ring must wake it without blocking. Remove it with Close.
func (g *Group) NewBell(ring func()) *Bell {
	b := &Bell{group: g, ring: ring}
	g.change(func(bells []*Bell) []*Bell { return append(bells, b) })
	return b
}

// Close disarms the bell and takes it out of its group. Once it returns, ring is not running
// and will not be called: what ring uses may be torn down.
func (b *Bell) Close() {
	b.Disarm()
	for b.ringing.Load() != 0 { // a waker has begun; ring does not block
		runtime.Gosched()
	}
	b.group.change(func(bells []*Bell) []*Bell {
		for i, other := range bells {
			if other == b {
				return append(bells[:i], bells[i+1:]...)
			}
		}
		return bells
	})
}

func (g *Group) change(edit func([]*Bell) []*Bell) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var bells []*Bell
	if old := g.bells.Load(); old != nil {
		bells = append(bells, *old...)
	}
	bells = edit(bells)
	g.bells.Store(&bells)
}

// Wake rings every armed bell. While nobody is armed it costs one load.
func (g *Group) Wake() {
	if g.parked.Load() != 0 { // pairs(parked)
		g.wake()
	}
}

func (g *Group) wake() {
	bells := g.bells.Load()
	if bells == nil {
		return
	}
	for _, b := range *bells {
		if b.armed.Load() == 0 {
			continue
		}
		b.ringing.Add(1) // pairs(ringing): before the bell is seen armed
		if b.armed.CompareAndSwap(1, 0) {
			g.parked.Add(-1)
			invariant.Yield()
			b.ring()
		}
		b.ringing.Add(-1)
	}
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
