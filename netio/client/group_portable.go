package client

import (
	"context"
	"sync"

	"github.com/fantail-io/fantail/ring"
)

// portableGroup polls with a goroutine for each member, that reads into the member's own
// buffer, hands the member to poll, and waits for its turn to be over.
type portableGroup struct {
	ready   chan handover
	done    chan struct{} // closed by close
	running sync.WaitGroup

	mu struct {
		sync.Mutex
		members map[*Subscription]struct{}
		closed  bool
	}
}

// handover makes whoever takes it the member's polling goroutine, until it sends on
// member.turn.
type handover struct {
	member *Subscription
	broken error // the connection has ended
	end    error // the member has ended for good
}

func newPortableGroup(GroupConfig) *portableGroup {
	g := &portableGroup{ready: make(chan handover), done: make(chan struct{})}
	g.mu.members = make(map[*Subscription]struct{})
	return g
}

func (g *portableGroup) add(s *Subscription) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.mu.closed:
		return ErrClosed
	case len(g.mu.members) >= MaxMembers:
		return ErrTooMany
	}
	g.mu.members[s] = struct{}{}
	s.member.turn = make(chan struct{})
	g.running.Go(func() {
		g.run(s)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.mu.members, s)
	})
	return nil
}

// change has nothing to do: a member's goroutine looks at the member itself.
func (g *portableGroup) change(*Subscription) {}

// run is a member's goroutine.
func (g *portableGroup) run(s *Subscription) {
	first := true // a connection's rest of the handshake, or a gap, is to be delivered
	for {
		if s.socket == nil || s.state.Load() == subClosed {
			first = true
			if err := s.attach(subGrouped); err != nil {
				if err != ErrClosed {
					g.hand(handover{member: s, end: err})
				}
				return
			}
			if s.socket == nil {
				select {
				case <-s.changed:
				case <-s.ctx.Done():
				}
				continue
			}
		}
		got, err := 0, error(nil)
		if !first {
			got, err = s.fill(s.ctx, true)
		}
		if (first || got > 0 || err != nil) && !g.hand(handover{member: s, broken: err}) {
			return
		}
		first = false
	}
}

// hand lends the member to poll; false where it or the group was closed.
func (g *portableGroup) hand(h handover) bool {
	select {
	case g.ready <- h:
		<-h.member.member.turn
		return true
	case <-h.member.ctx.Done():
	case <-g.done:
	}
	return false
}

func (g *portableGroup) poll(ctx context.Context, fn func(*Subscription, *Message)) (int, error) {
	n := 0
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		select {
		case h := <-g.ready:
			k, err := g.serve(h, fn)
			if n += k; n > 0 || err != nil {
				return n, err
			}
		case <-ctx.Done():
		case <-g.done:
			return 0, ErrClosed
		}
	}
}

// serve delivers what a member has, as its polling goroutine.
func (g *portableGroup) serve(h handover, fn func(*Subscription, *Message)) (n int, err error) {
	s := h.member
	defer func() { s.member.turn <- struct{}{} }()
	if h.end != nil {
		return 0, &MemberError{Subscription: s, Err: h.end}
	}
	d := &s.decoder
	before := len(d.rest)
	for s.state.Load() != subClosed && d.next() {
		if d.message.Gap.Reason != ring.GapNone {
			s.countGap(d.message.Gap)
		}
		fn(s, &d.message)
		n++
	}
	s.count(before)
	if h.broken == nil {
		h.broken = d.end
	}
	if h.broken != nil {
		s.broken(h.broken)
	}
	return n, nil
}

func (g *portableGroup) close() {
	g.mu.Lock()
	members := make([]*Subscription, 0, len(g.mu.members))
	for s := range g.mu.members {
		members = append(members, s)
	}
	first := !g.mu.closed
	g.mu.closed = true
	g.mu.Unlock()
	if first {
		close(g.done)
	}
	for _, s := range members {
		s.Close()
	}
	g.running.Wait()
}
