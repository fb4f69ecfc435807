package client

import (
	"maps"
	"slices"
	"time"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// apply makes changes count: with polling held.
func (g *epollGroup) apply() {
	g.mu.Lock()
	changes := g.mu.changes
	g.mu.changes = nil
	g.dirty.Store(false)
	g.mu.Unlock()
	for _, s := range changes {
		if s.state.Load() == subClosed {
			g.leave(s)
		} else if s.member.slot == 0 {
			g.enter(s)
		}
	}
}

// enter takes over a member's connection; without one it waits for that to change.
func (g *epollGroup) enter(s *Subscription) {
	s.mu.Lock()
	w, l, end := s.mu.socket, s.mu.fresh, s.mu.err
	s.mu.socket, s.mu.fresh = nil, nil
	s.mu.Unlock()
	var err error
	switch {
	case end != nil:
		g.failed = append(g.failed, &MemberError{Subscription: s, Err: end})
		return
	case l != nil:
		if w, err = newSocket(l.conn); err != nil {
			l.rest()
			l.conn.Close()
			g.fail(s, err)
			return
		}
	case w == nil:
		return
	}
	f, err := takeOver(w)
	if err != nil {
		w.close()
		g.fail(s, err)
		return
	}
	if l != nil {
		s.connect(l, f)
	}
	s.socket = f
	if err := g.register(s, f.fd); err != nil {
		f.close()
		g.fail(s, err)
	}
}

// register puts a member's descriptor into the set.
func (g *epollGroup) register(s *Subscription, fd int) error {
	slot := len(g.slots)
	if n := len(g.free); n > 0 {
		slot = g.free[n-1]
	}
	event := sys.EpollEvent{Events: sys.EpollIn | sys.EpollReadEnded | sys.EpollEdge,
		Fd: int32(slot)}
	if err := sys.EpollCtl(g.set, sys.EpollAdd, fd, &event); err != nil {
		return err
	}
	if slot == len(g.slots) {
		g.slots = append(g.slots, nil)
	} else {
		g.free = g.free[:len(g.free)-1]
	}
	g.slots[slot] = s
	s.member.slot, s.member.ended = slot, false
	g.enqueue(s) // what came before it was in the set is no edge
	g.tick = min(g.tick, s.quiet.timeout/4)
	g.tickAt = time.Time{}
	return nil
}

// remove takes a member out of the set.
func (g *epollGroup) remove(s *Subscription) {
	slot := s.member.slot
	_ = sys.EpollCtl(g.set, sys.EpollDelete, s.socket.(*fdSocket).fd, nil)
	g.slots[slot] = nil
	g.free = append(g.free, slot)
	s.member.slot = 0
}

// leave forgets a member that was closed.
func (g *epollGroup) leave(s *Subscription) {
	if s.member.slot != 0 {
		g.remove(s)
		s.socket.close()
		s.socket = nil
	}
	g.mu.Lock()
	delete(g.mu.members, s)
	g.mu.Unlock()
}

// fail ends a member.
func (g *epollGroup) fail(s *Subscription, err error) {
	end := &ConnectionError{Address: s.client.address, Op: "read", Err: err}
	s.mu.Lock()
	s.mu.err = end
	s.mu.Unlock()
	s.socket = nil
	g.failed = append(g.failed, &MemberError{Subscription: s, Err: end})
}

func (g *epollGroup) close() {
	g.mu.Lock()
	first := !g.closing.Swap(true)
	g.mu.Unlock()
	if !first {
		return
	}
	g.wake()
	g.watch.close()
	g.polling.Lock() // a Poll under way has ended
	g.apply()
	g.polling.Unlock()
	g.mu.Lock()
	members := slices.Collect(maps.Keys(g.mu.members))
	g.mu.Unlock()
	for _, s := range members {
		s.Close() // and leaves, through change and settle
	}
	g.settle()
	g.polling.Lock()
	defer g.polling.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.closed = true
	_ = sys.Close(g.set)
	_ = sys.Close(g.bell)
}
