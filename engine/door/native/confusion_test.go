package native

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// tally is what each publisher has published, for History.Done.
type tally struct {
	sync.Mutex
	want map[uint32]uint64
	next atomic.Uint32
}

func (a *tally) add(publisher uint32, n uint64) {
	a.Lock()
	defer a.Unlock()
	a.want[publisher] = n
}

// total answers the whole tally, and its sum. Nobody may still be adding.
func (a *tally) total() (sum uint64) {
	for _, n := range a.want {
		sum += n
	}
	return sum
}

// remote publishes over TCP until stop is closed, hanging up in the middle of a message
// again and again. Each life is a publisher of its own.
func (a *tally) remote(l *Listener, topic string, random *rand.Rand, stop chan struct{}) error {
	for {
		number := a.next.Add(1)
		s, err := newSource(l.Addr().String(), topic, number, 44, 1+random.IntN(4000))
		if err != nil {
			return err
		}
		for range 1 + random.IntN(20) {
			if err := s.publish(1 + random.IntN(100)); err != nil {
				return err
			}
		}
		if err := s.sync(); err != nil { // so that the dead do not pile up
			return err
		}
		if err := s.half(); err != nil {
			return err
		}
		a.add(number, s.next.Sequence)
		s.link.nc.Close()
		select {
		case <-stop:
			return nil
		default:
		}
	}
}

// local publishes in process until stop is closed: copied, claimed in place, or claimed and
// given up after the place was filled with rubbish.
func (a *tally) local(e *engine.Engine, topic string, random *rand.Rand, stop chan struct{}) error {
	p, err := e.Publisher(topic)
	if err != nil {
		return err
	}
	defer p.Close()
	ctx := context.Background()
	next := ringtest.Payload{Publisher: a.next.Add(1), Seed: random.Uint32()}
	var b []byte
	for {
		select {
		case <-stop:
			a.add(next.Publisher, next.Sequence)
			return nil
		default:
		}
		next.Sequence++
		next.Bytes = ringtest.MinPayload + random.IntN(3000)
		b = ringtest.AppendPayload(b[:0], next)
		c, err := p.Claim(len(b))
		switch {
		case err == engine.ErrBackPressure || err == nil && random.IntN(4) == 0:
			if err == nil {
				for i := range c.Bytes() {
					c.Bytes()[i] = 0xEE
				}
				if err := c.Abort(); err != nil {
					return err
				}
			}
			if err := p.PublishContext(ctx, b); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			copy(c.Bytes(), b)
			if err := c.Commit(); err != nil {
				return err
			}
		}
	}
}

// watch polls an in-process subscription until ctx is done and checks every byte.
func watch(ctx context.Context, s *engine.Subscription, policy engine.Policy) error {
	defer s.Close()
	var wrong error
	var history ringtest.History
	for {
		_, err := s.PollContext(ctx, 64, func(m *engine.Message) {
			if m.IsGap() {
				history.Gap(m.Gap.Count)
				return
			}
			p, err := ringtest.CheckPayload(m.Payload)
			if err == nil {
				// A gap of the stream counts claims that were given up, too: more is
				// declared than is missing, and Done is not asked.
				err = history.Observe(p)
			}
			if err != nil && wrong == nil {
				wrong = fmt.Errorf("%v: sequence %d: %w", policy.Kind, m.Sequence, err)
			}
		})
		switch {
		case wrong != nil:
			return wrong
		case errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			return err
		}
	}
}

// A40: buffer confusion. Publishers with fills of their own come, go and die over TCP and
// in process, readers are slow in several ways, blocks are few and reused all the time; and
// every byte that anybody gets belongs to the message that its header says.
func TestBufferConfusion(t *testing.T) {
	e, err := engine.New(engine.Config{StreamBytes: 8 * 64 << 10, BlockBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, e)
	l := listen(t, e, Config{Shards: 2, HeartbeatEvery: time.Minute})
	seed := ringtest.Seed(t)
	confuse(t, e, l, seed, time.Duration(full(2000, 500))*time.Millisecond)
}

func confuse(t *testing.T, e *engine.Engine, l *Listener, seed int64, d time.Duration) {
	var readers []*reader
	for i := range 2 {
		for _, p := range []ring.Policy{waitPolicy, {Kind: ring.PolicyDropOldest},
			{Kind: ring.PolicyDropOldest, MaxLag: 50}, {Kind: ring.PolicyDropNewest, MaxLag: 200},
			{Kind: ring.PolicyWaitFor, For: 5 * time.Millisecond}} {
			r, err := newReader(l.Addr().String(), "confuse.>", p)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(r.stop)
			if i == 1 {
				_ = r.link.nc.SetReadBuffer(64 << 10) // less than a segment of loopback makes TCP wait
				r.slow = slowly(20 * time.Microsecond)
			}
			r.link.limit(d + linkTimeout)
			readers = append(readers, r)
			go r.run()
		}
	}
	a := tally{want: make(map[uint32]uint64)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var publishers, watchers sync.WaitGroup
	for _, p := range []engine.Policy{engine.Wait(), engine.DropOldest(0), engine.DropOldest(20)} {
		s, err := e.Subscribe("confuse.>", engine.SubscribeOptions{Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		watchers.Go(func() {
			if err := watch(ctx, s, p); err != nil {
				t.Error(err)
			}
		})
	}
	stop := make(chan struct{})
	for i := range 20 {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		topic := fmt.Sprintf("confuse.%d", i)
		publishers.Go(func() {
			var err error
			if i < 16 {
				err = a.remote(l, topic, random, stop)
			} else {
				err = a.local(e, topic, random, stop)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	<-time.After(d)
	close(stop)
	publishers.Wait()
	openConnections(t, l, len(readers)) // what the publishers sent was taken
	t.Logf("%d publishers, %d messages", len(a.want), a.total())
	for _, r := range readers {
		r.complete(t, a.want, r.policy.Kind != ring.PolicyWait)
	}
	cancel()
	watchers.Wait()
}

// slowly is a reader's pause after a message now and then: work, not sleep, so that a slow
// reader is as slow on any machine.
func slowly(d time.Duration) func() {
	n := 0
	return func() {
		if n++; n%16 != 0 {
			return
		}
		for start := time.Now(); time.Since(start) < 16*d; {
		}
	}
}
