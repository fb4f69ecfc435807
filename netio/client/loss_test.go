package client

import (
	"flag"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

var seed = flag.Uint64("seed", 0, "seed of random tests; 0: another one each time")

// cutter is the script of a subscription's connections: each sends some messages of one
// stream and is cut off anywhere. Between two connections some messages pass unseen.
type cutter struct {
	mu   sync.Mutex
	rand *rand.Rand
	next uint64
	cuts int           // connections that are cut; the one after them stays
	end  atomic.Uint64 // the sequence after the last one, once that is known
}

func (c *cutter) script(p *peer) {
	if c.burst(p) {
		p.untilEnd()
	}
}

// burst sends some messages, and reports whether the connection stays.
func (c *cutter) burst(p *peer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.subscribed(streamID, c.next)
	var b []byte
	for range 1 + c.rand.IntN(50) {
		b = append(b, data(c.next, string(make([]byte, c.rand.IntN(2000))))...)
		c.next++
	}
	if c.cuts--; c.cuts < 0 {
		c.end.Store(c.next)
		return p.send(b)
	}
	p.send(b[:c.rand.IntN(len(b)+1)])
	c.next += uint64(c.rand.IntN(3))
	return false
}

// ledger checks that sequences come once each, as a message or in a gap.
type ledger struct {
	t    *testing.T
	next uint64
}

func (l *ledger) add(m *Message) {
	last := m.Sequence
	if m.IsGap() {
		last = m.Gap.Last
	}
	if m.Sequence != l.next {
		l.t.Errorf("%d where %d belongs: %+v", m.Sequence, l.next, m.Gap)
	}
	l.next = last + 1
}

func newCutter(t *testing.T) *cutter {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed=%d", s)
	return &cutter{rand: rand.New(rand.NewPCG(s, 0)), next: 1, cuts: 30}
}

func TestNothingIsLostSilently(t *testing.T) {
	c := newCutter(t)
	cl := dialTest(t, serve(t, control, c.script), fast())
	s := subscribeTest(t, cl, ">")
	l := ledger{t: t, next: 1}
	for l.next != c.end.Load() && !t.Failed() {
		if _, err := s.PollContext(patient(t), 7, l.add); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGroupLosesNothingSilently(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		cutters := make(map[*Subscription]*cutter)
		ledgers := make(map[*Subscription]*ledger)
		for range 3 {
			c := newCutter(t)
			s := addTest(t, g, subscribeTest(t, dialTest(t, serve(t, control, c.script), fast()), ">"))
			cutters[s], ledgers[s] = c, &ledger{t: t, next: 1}
		}
		more := func() bool {
			for s, l := range ledgers {
				if l.next != cutters[s].end.Load() {
					return !t.Failed()
				}
			}
			return false
		}
		for more() {
			if _, err := g.Poll(patient(t), func(s *Subscription, m *Message) {
				ledgers[s].add(m)
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
