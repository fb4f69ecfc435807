package client

import (
	"context"
	"fmt"

	"github.com/fantail-io/fantail/ring/wait"
)

// GroupConfig says how a Group polls. The zero GroupConfig works.
type GroupConfig struct {
	// ReadBytes is the read buffer that the members share: 4 KiB to 16 MiB. Zero: 256 KiB.
	ReadBytes int
	// Wait is what Poll does while there is nothing to read. Zero: wait.Adaptive. Elsewhere
	// than on Linux Poll always parks.
	Wait wait.Strategy
}

// Group polls many subscriptions, of one or more clients, from one goroutine: on Linux with
// one epoll set and one read buffer, elsewhere with a goroutine for each. Add and Close may
// be called from any goroutine.
type Group struct {
	backend backend
}

// backend is how a group polls. Any goroutine may call its methods, but one at a time poll.
type backend interface {
	// add takes a new member: ErrClosed, or ErrTooMany.
	add(s *Subscription) error
	// change says that a member has a new connection, or has ended, or was closed.
	change(s *Subscription)
	poll(ctx context.Context, fn func(*Subscription, *Message)) (int, error)
	// close closes the members, and gives everything back.
	close()
}

// NewGroup makes an empty group. Close it when done.
func NewGroup(cfg GroupConfig) (*Group, error) {
	if cfg.ReadBytes == 0 {
		cfg.ReadBytes = 256 << 10
	}
	if cfg.ReadBytes < minReadBytes || cfg.ReadBytes > maxReadBytes {
		return nil, fmt.Errorf("client: ReadBytes %d is outside %d to %d", cfg.ReadBytes,
			minReadBytes, maxReadBytes)
	}
	b, err := newBackend(cfg)
	if err != nil {
		return nil, err
	}
	return &Group{backend: b}, nil
}

// Add gives the group a subscription, which it owns from then on: Poll and PollContext of
// the subscription answer ErrGrouped, and Close of the group closes it. To take it out
// again, close it. Nobody may be polling it meanwhile.
func (g *Group) Add(s *Subscription) error {
	s.mu.Lock()
	if !s.state.CompareAndSwap(subOpen, subGrouped) {
		err := ErrGrouped
		if s.state.Load() == subClosed {
			err = ErrClosed
		}
		s.mu.Unlock()
		return err
	}
	s.mu.group = g
	s.mu.Unlock()
	if err := g.backend.add(s); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mu.group = nil
		s.state.CompareAndSwap(subGrouped, subOpen)
		return err
	}
	s.watch.close()
	return nil
}

// Poll hands what the members have to fn, in order for each member, and answers how many
// messages and gaps that was; it waits for the first until ctx is done. A turn reads each
// member that has something once, so that none starves another. fn must not call Poll, nor
// Close of the group; Close of a subscription it may.
//
// Where a member has ended for good Poll says so once, with a *MemberError, and the group
// goes on without it. Only one goroutine may poll at a time.
func (g *Group) Poll(ctx context.Context, fn func(*Subscription, *Message)) (int, error) {
	return g.backend.poll(ctx, fn)
}

// Close closes the group and its members; a Poll under way answers ErrClosed. It is
// idempotent.
func (g *Group) Close() error {
	g.backend.close()
	return nil
}
