package client

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/netio/internal/sys"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/wait"
)

const (
	// bellSlot stands for the event counter among the slots of the epoll set.
	bellSlot = -1
	// eventsMax is how many events one call takes.
	eventsMax = 256
	// readsPerPoll is after how many reads of members that are always ready the set is asked
	// for others.
	readsPerPoll = 16
	// spinPolls is how often wait.Adaptive asks the set before it blocks: a call of 0.3 µs,
	// against some 36 µs for a wake-up.
	spinPolls = 64
)

// member is where a subscription is in its group; that of its polling goroutine.
type member struct {
	slot  int           // its place in slots; 0: none
	ready bool          // in the ready list
	ended bool          // the peer has ended: read until that shows, there is no other edge
	rest  []byte        // a frame's beginning, until the rest comes
	turn  chan struct{} // portableGroup: its goroutine may go on
}

// epollGroup polls descriptors that the runtime's poller knows nothing of. Events are
// edge-triggered: a member is in the ready list from its event until a read came back with
// less than it had room for, so that a busy one costs a read a turn and nothing else.
type epollGroup struct {
	config GroupConfig
	set    int
	bell   int
	watch  watch
	ring   func() // made once

	// polling guards what follows: whoever polls, or applies changes while nobody does.
	polling sync.Mutex
	slots   []*Subscription // by slot; nil where it is free
	free    []int
	ready   []*Subscription // to be read in this turn
	next    []*Subscription // and in the one after
	reads   int             // since the set was asked
	spins   int
	events  []sys.EpollEvent
	buf     []byte
	failed  []*MemberError
	tickAt  time.Time
	tick    time.Duration

	dirty   atomic.Bool // changes is not empty
	closing atomic.Bool
	mu      struct {
		sync.Mutex
		changes []*Subscription
		members map[*Subscription]struct{}
		closed  bool // there is no bell any more
	}
}

func newBackend(c GroupConfig) (backend, error) {
	g := &epollGroup{config: c, events: make([]sys.EpollEvent, eventsMax),
		buf: make([]byte, c.ReadBytes), slots: make([]*Subscription, 1), tick: time.Second}
	g.mu.members = make(map[*Subscription]struct{})
	g.ring = g.wake
	var err error
	if g.set, err = sys.EpollCreate(); err != nil {
		return nil, err
	}
	if g.bell, err = sys.Eventfd(); err != nil {
		_ = sys.Close(g.set)
		return nil, err
	}
	err = sys.EpollCtl(g.set, sys.EpollAdd, g.bell, &sys.EpollEvent{Events: sys.EpollIn,
		Fd: bellSlot})
	if err != nil {
		_ = sys.Close(g.bell)
		_ = sys.Close(g.set)
		return nil, err
	}
	return g, nil
}

// wake ends a wait.
func (g *epollGroup) wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.mu.closed {
		_ = sys.EventfdWrite(g.bell) // full is rung
	}
}

func (g *epollGroup) add(s *Subscription) error {
	g.mu.Lock()
	defer g.settle()
	defer g.mu.Unlock()
	switch {
	case g.closing.Load():
		return ErrClosed
	case len(g.mu.members) >= MaxMembers:
		return ErrTooMany
	}
	g.mu.members[s] = struct{}{}
	g.changeLocked(s)
	return nil
}

func (g *epollGroup) changeLocked(s *Subscription) {
	g.mu.changes = append(g.mu.changes, s)
	g.dirty.Store(true)
	if !g.mu.closed {
		_ = sys.EventfdWrite(g.bell)
	}
}

func (g *epollGroup) change(s *Subscription) {
	g.mu.Lock()
	g.changeLocked(s)
	g.mu.Unlock()
	g.settle()
}

// settle applies changes where nobody polls; whoever does comes here afterwards.
func (g *epollGroup) settle() {
	for g.dirty.Load() && g.polling.TryLock() {
		g.apply()
		g.polling.Unlock()
	}
}

func (g *epollGroup) poll(ctx context.Context, fn func(*Subscription, *Message)) (int, error) {
	defer g.settle()
	g.polling.Lock()
	defer g.polling.Unlock()
	g.watch.on(ctx, g.ring)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if g.closing.Load() {
			return 0, ErrClosed
		}
		if g.dirty.Load() {
			g.apply()
		}
		if len(g.failed) > 0 {
			err := g.failed[0]
			g.failed = g.failed[1:]
			return 0, err
		}
		if len(g.ready) == 0 || g.reads >= readsPerPoll {
			if err := g.harvest(0); err != nil {
				return 0, err
			}
		}
		now := time.Now()
		n := g.turn(now, fn)
		if now.After(g.tickAt) {
			g.askSilent(now)
		}
		if n > 0 {
			g.spins = 0
			return n, nil
		}
		if len(g.ready) == 0 && len(g.failed) == 0 && g.mustBlock() {
			if err := g.harvest(max(time.Until(g.tickAt), time.Millisecond)); err != nil {
				return 0, err
			}
		}
	}
}

// mustBlock reports whether the wait strategy wants to block now.
func (g *epollGroup) mustBlock() bool {
	switch g.config.Wait {
	case wait.Busy:
		return false
	case wait.Yield:
		runtime.Gosched()
		return false
	case wait.Park:
		return true
	}
	g.spins++
	if g.spins < spinPolls && wait.SpinAllowed() {
		return false
	}
	g.spins = 0
	return true
}

// harvest adds to the ready list the members that have something, and waits for the first
// for up to timeout.
func (g *epollGroup) harvest(timeout time.Duration) error {
	g.reads = 0
	n, err := sys.EpollWait(g.set, g.events, timeout)
	if err != nil {
		return err
	}
	for i := range g.events[:n] {
		e := &g.events[i]
		if e.Fd == bellSlot {
			_, _ = sys.EventfdRead(g.bell)
		} else if s := g.slots[e.Fd]; s != nil {
			s.member.ended = e.Events&(sys.EpollReadEnded|sys.EpollHangup|sys.EpollError) != 0
			g.enqueue(s)
		}
	}
	return nil
}

func (g *epollGroup) enqueue(s *Subscription) {
	if !s.member.ready {
		s.member.ready = true
		g.ready = append(g.ready, s)
	}
}

// turn reads every ready member once.
func (g *epollGroup) turn(now time.Time, fn func(*Subscription, *Message)) (n int) {
	ready := g.ready
	g.ready = g.next[:0]
	for i, s := range ready {
		ready[i] = nil
		s.member.ready = false
		if s.member.slot == 0 {
			continue // it has left meanwhile
		}
		k, more := g.read(s, now, fn)
		n += k
		if more {
			g.enqueue(s)
		}
	}
	g.next = ready
	return n
}

// read reads a member once, and reports whether it may have more.
func (g *epollGroup) read(s *Subscription, now time.Time, fn func(*Subscription, *Message)) (n int,
	more bool) {
	d := &s.decoder
	b := s.room(&g.buf)
	k := len(d.rest)
	got, err := s.socket.read(b[k:])
	g.reads++
	d.rest = b[:k+got]
	for s.state.Load() != subClosed && d.next() {
		if d.message.Gap.Reason != ring.GapNone {
			s.countGap(d.message.Gap)
		}
		fn(s, &d.message)
		n++
	}
	s.count(k + got)
	s.member.rest = append(s.member.rest[:0], d.rest...)
	d.rest = s.member.rest
	if err = s.heard(got, err, now); d.end != nil {
		err = d.end
	}
	if err != nil {
		g.remove(s)
		s.broken(err)
		g.enter(s) // which tells of the end, if it was that
		return n, false
	}
	return n, k+got == len(b) || s.member.ended
}

// askSilent looks for members that have been silent for too long.
func (g *epollGroup) askSilent(now time.Time) {
	g.tickAt = now.Add(g.tick)
	for _, s := range g.slots {
		if s != nil && !now.Before(s.quiet.next()) {
			g.enqueue(s) // a read that finds nothing does the rest
		}
	}
}
