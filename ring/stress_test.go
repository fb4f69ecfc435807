package ring

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// stress is one run of publishers and followers, and what it knows of each sequence.
type stress struct {
	stream   *Stream
	messages int // of each publisher
	wrote    []stressMessage
	done     atomic.Bool // the publishers are
	lapped   atomic.Uint64
}

// stressMessage is what was published under a sequence: number is 0 where it was aborted.
type stressMessage struct {
	publisher uint32
	number    uint64
}

// TestStressStream runs publishers and all kinds of followers at once. Nobody may lose,
// repeat, reorder or tear a message, nor miss one without an exact gap.
func TestStressStream(t *testing.T) {
	seed := uint64(ringtest.Seed(t))
	for _, c := range []struct{ blocks, publishers, gating, lossy, patient, held int }{
		{4, 1, 0, 3, 0, 0},
		{4, 4, 2, 2, 1, 1},
		{8, 2, 1, 4, 2, 1},
		{32, 4, 2, 8, 2, 2},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			s, _ := newTestStream(t, c.blocks)
			s.clock = func() int64 { return time.Now().UnixNano() }
			s.config.ClaimTimeout = time.Millisecond
			r := &stress{stream: s, messages: 20_000}
			if testing.Short() {
				r.messages = 3_000
			}
			r.wrote = make([]stressMessage, 1+2*c.publishers*r.messages)
			var followers sync.WaitGroup
			follow := func(n int, o FollowOptions) {
				for i := range n {
					f := s.Follow(o)
					followers.Go(func() {
						defer f.Close()
						w := &stressFollower{stress: r, TB: t, f: f, seen: make([]uint8, len(r.wrote)),
							random: rand.New(rand.NewPCG(seed, uint64(i)))}
						w.run()
					})
				}
			}
			follow(c.gating, FollowOptions{})
			follow(c.lossy, FollowOptions{Lossy: true})
			follow(c.patient, FollowOptions{Patience: time.Millisecond})
			follow(c.held, FollowOptions{Held: true})
			var publishers sync.WaitGroup
			for i := range c.publishers {
				publishers.Go(func() { r.publish(t, uint32(i), rand.New(rand.NewPCG(seed, 100+uint64(i)))) })
			}
			swept := make(chan struct{})
			go func() {
				defer close(swept)
				for !r.done.Load() {
					s.Sweep(time.Now().UnixNano())
					runtime.Gosched()
				}
			}()
			publishers.Wait()
			r.done.Store(true)
			s.Readers().Wake()
			followers.Wait()
			<-swept
			t.Logf("%d gaps, %+v", r.lapped.Load(), s.Stats())
		})
	}
}

// publish publishes; now and then it aborts, or is late with its Commit.
func (r *stress) publish(t *testing.T, publisher uint32, random *rand.Rand) {
	var payload []byte
	sleeper := r.stream.Space().NewSleeper()
	defer sleeper.Close()
	for number := uint64(1); number <= uint64(r.messages); {
		bytes := ringtest.MinPayload + random.IntN(100)
		if random.IntN(100) == 0 {
			bytes = ringtest.MinPayload + random.IntN(blockPayload-ringtest.MinPayload)
		}
		c, err := claimWaiting(r.stream, sleeper, publisher, bytes)
		if err != nil {
			t.Error(err)
			return
		}
		if random.IntN(20) == 0 || c.Sequence() >= uint64(len(r.wrote)) {
			clear(c.Bytes())
			if err := c.Abort(); err != nil && err != ErrClaimExpired {
				t.Error(err)
			}
			continue
		}
		r.wrote[c.Sequence()] = stressMessage{publisher, number}
		payload = ringtest.AppendPayload(payload[:0], ringtest.Payload{Publisher: publisher,
			Sequence: number, Bytes: bytes})
		copy(c.Bytes(), payload)
		if random.IntN(50) == 0 {
			runtime.Gosched()
		}
		if random.IntN(5000) == 0 {
			<-time.After(3 * time.Millisecond) // Sweep may expire it
		}
		if _, err := ringtest.CheckPayload(c.Bytes()); err != nil {
			t.Errorf("somebody else wrote in claim %d: %v", c.Sequence(), err)
		}
		switch err := c.Commit(); err {
		case nil:
			number++
		case ErrClaimExpired:
			r.wrote[c.Sequence()] = stressMessage{} // nobody has seen it
		default:
			t.Error(err)
			return
		}
	}
}

// stressFollower checks all that one follower sees.
type stressFollower struct {
	*stress
	testing.TB
	f       *Follower
	random  *rand.Rand
	seen    []uint8 // by sequence: 1 delivered, 2 in a gap
	history ringtest.History
	view    Message // the last one read: it must not change until the next
	held    []Message
	failed  bool
}

func (w *stressFollower) fail(format string, args ...any) {
	w.failed = true
	w.Errorf("%+v: %s", FollowOptions{w.f.lossy, w.f.patience, w.f.held}, fmt.Sprintf(format, args...))
}

func (w *stressFollower) run() {
	w.history.LateGaps = true
	sleeper := w.stream.Readers().NewSleeper()
	defer sleeper.Close()
	start := w.f.Next()
	for !w.failed {
		done := w.done.Load()
		if w.turn() > 0 {
			continue
		}
		if done {
			break
		}
		w.release() // what it holds, others may be waiting for
		sleeper.Arm()
		if w.turn() == 0 && !w.done.Load() {
			<-sleeper.C()
		}
		sleeper.Disarm()
	}
	w.release()
	if w.failed {
		for !w.done.Load() { // so that nobody waits for it
			w.turn()
			w.release()
			runtime.Gosched()
		}
		return
	}
	w.account(start)
}

// turn reads for a while, and answers how many messages and gaps there were.
func (w *stressFollower) turn() (n int) {
	f := w.f
	gap := f.Acquire()
	if gap.Count > 0 {
		w.gap(gap)
		n++
	}
	w.view = Message{}
	limit := 1 + w.random.IntN(200)
	for n < limit {
		m, ok := f.Read()
		if !ok {
			break
		}
		n++
		if w.seen[m.Sequence] != 0 {
			w.fail("sequence %d again", m.Sequence)
		}
		w.seen[m.Sequence] = 1
		w.check(m, true)
		if f.held {
			w.held = append(w.held, m)
		}
		if w.random.IntN(300) == 0 { // slow, and looks once more
			for range w.random.IntN(50) {
				runtime.Gosched()
			}
			w.check(m, false)
		}
	}
	f.Release()
	if len(w.held) > 100 {
		w.release()
	}
	return n
}

// release checks what is held once more, and gives it up.
func (w *stressFollower) release() {
	for _, m := range w.held {
		w.check(m, false)
	}
	w.held = w.held[:0]
	w.f.Hold(w.f.Number())
}

func (w *stressFollower) gap(g Gap) {
	w.lapped.Add(1)
	if !w.f.lossy || g.Last+1-g.First != g.Count || g.Reason != GapLapped {
		w.fail("gap %+v", g)
		return
	}
	for at := g.First; at <= g.Last && at < uint64(len(w.seen)); at++ {
		if w.seen[at] != 0 {
			w.fail("sequence %d both comes and does not", at)
		}
		w.seen[at] = 2
	}
}

func (w *stressFollower) check(m Message, first bool) {
	b := m.Block.Bytes(m.Offset, m.Length)
	p, err := ringtest.CheckPayload(b[frame.HeaderBytes:])
	h := frame.Get(b)
	want := w.wrote[m.Sequence]
	switch {
	case err != nil:
		w.fail("sequence %d: %v", m.Sequence, err)
	case h.Sequence != m.Sequence || h.Topic != m.Topic || h.Length != m.Length:
		w.fail("%+v has the header %+v", m, h)
	case p.Publisher != want.publisher || p.Sequence != want.number:
		w.fail("sequence %d is %d of publisher %d, want %+v", m.Sequence, p.Sequence, p.Publisher, want)
	case first:
		if err := w.history.Observe(p); err != nil {
			w.fail("%v", err)
		}
	}
}

// account checks that every message came, or was in a gap, and nothing else was.
func (w *stressFollower) account(start uint64) {
	tail := w.stream.Tail()
	for at := start; at < min(tail, uint64(len(w.seen))); at++ {
		if w.seen[at] == 0 && w.wrote[at].number != 0 {
			w.fail("sequence %d was lost in silence", at)
			return
		}
		if w.seen[at] == 1 && w.wrote[at].number == 0 {
			w.fail("sequence %d came though it was aborted", at)
			return
		}
	}
	if !w.f.lossy && slices.Contains(w.seen, 2) {
		w.fail("it gates, and lost messages")
	}
}
