package netio

import (
	"context"
	"slices"

	"github.com/fantail-io/fantail/ring"
)

// hold tells the stream which blocks are still needed. Connections that lag by more than
// half of the stream give up their oldest ranges first, as their policies say; so do those
// that hold the last block of a full stream, which is shorter than it was made while claims
// or readers keep blocks aside.
func (s *Shard) hold() {
	s.follower.Release()
	at := s.follower.Number()
	oldest := at
	if s.pending.block != nil {
		oldest = min(oldest, s.pending.block.Number())
	}
	most := uint64(s.stream.Blocks() / 2)
	evict := at != s.evicted // once a block
	s.evicted = at
	last, full := s.stream.Full()
	freed := false
	s.gated = false
	for _, c := range s.dirty {
		if c.gone {
			continue
		}
		from := c.oldest(at)
		holds := full && from <= last
		outOfPatience := c.policy.Kind == ring.PolicyWaitFor && s.patience(c, at, from, holds)
		if at > most && (evict || outOfPatience) {
			c.evict(at - most)
		}
		if holds && last < at && !c.waits() {
			c.evict(last + 1)
			freed = true
		}
		s.gated = s.gated || c.gating > 0
		oldest = min(oldest, c.oldest(at))
	}
	s.follower.Hold(oldest)
	if freed { // Hold wakes publishers now and then only
		s.stream.Space().Wake()
	}
}

// patience lets a WaitFor connection hold the stream for no longer than it may, and reports
// whether that time is over now: its old ranges must go then, since while the stream is
// full no new block would be the occasion for it.
func (s *Shard) patience(c *Conn, at, oldest uint64, holds bool) (over bool) {
	full := holds || at-oldest+2 >= uint64(s.stream.Blocks()) || len(s.to) > 0
	switch {
	case at == oldest:
		c.gating = 0 // it has caught up
	case c.gating < 0 || !full:
	case c.gating == 0:
		c.gating = s.now
	case s.now-c.gating >= int64(c.policy.For):
		c.gating = -1
		return true
	}
	return false
}

// drain is one call of Drain.
type drain struct {
	tail uint64 // the sequence behind what it waits for
	done chan struct{}
}

// drained ends the calls of Drain whose messages have left.
func (s *Shard) drained() {
	if len(s.drains) == 0 || len(s.dirty) > 0 || len(s.to) > 0 {
		return
	}
	s.drains = slices.DeleteFunc(s.drains, func(d drain) bool {
		if s.follower.Next() < d.tail {
			return false // perhaps behind a claim that is still open
		}
		close(d.done)
		return true
	})
}

// Drain waits until everything that was published before the call is in the kernel, or ctx
// is done.
func (s *Shard) Drain(ctx context.Context) error {
	d := drain{tail: s.stream.Tail(), done: make(chan struct{})}
	if err := s.Do(func() { s.drains = append(s.drains, d) }); err != nil {
		return err
	}
	select {
	case <-d.done:
		return nil
	case <-s.done:
		return ErrShutdown
	case <-ctx.Done():
		return ctx.Err()
	}
}
