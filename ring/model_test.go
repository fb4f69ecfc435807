package ring

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// modelMessage is all that the reference knows of a sequence.
type modelMessage struct {
	state uint32
	size  int
	since int64 // when it was claimed
}

// modelStream is what a stream should be: a list of messages, and a place in it for each
// follower. A lapped follower's place moves; that is the only freedom that it has.
type modelStream struct {
	messages []modelMessage // by sequence, from 1
	next     map[*Follower]uint64
}

// read is what f's next Read must answer: the first committed message that is not behind
// an open one, or 0.
func (m *modelStream) read(f *Follower) uint64 {
	for at := m.next[f]; at < uint64(len(m.messages)); at++ {
		switch m.messages[at].state {
		case stateOpen:
			m.next[f] = at
			return 0
		case stateCommit:
			m.next[f] = at + 1
			return at
		}
	}
	m.next[f] = uint64(len(m.messages))
	return 0
}

// modelRun is one seeded run of random operations on a stream and its model.
type modelRun struct {
	testing.TB
	stream    *Stream
	clock     *testClock
	random    *rand.Rand
	model     modelStream
	followers []*Follower
	claims    []Claim // open, or expired and not answered
	lapped    int
	expired   int
	refused   int
}

func TestModelStream(t *testing.T) {
	seed := uint64(ringtest.Seed(t))
	var total modelRun
	for round := range uint64(60) {
		s, clock := newTestStream(t, 4+int(round%5))
		r := &modelRun{TB: t, stream: s, clock: clock,
			random: rand.New(rand.NewPCG(seed, round)),
			model: modelStream{messages: make([]modelMessage, 1),
				next: make(map[*Follower]uint64)}}
		for range 2_000 {
			r.step()
		}
		for _, f := range r.followers {
			f.Close()
		}
		for len(r.claims) > 0 {
			r.end(0)
		}
		total.lapped += r.lapped
		total.expired += r.expired
		total.refused += r.refused
	}
	if total.lapped == 0 || total.expired == 0 || total.refused == 0 {
		t.Errorf("%d gaps, %d expired claims, %d refused: not everything was tried",
			total.lapped, total.expired, total.refused)
	}
}

func (r *modelRun) step() {
	switch r.clock.advance(time.Duration(r.random.IntN(int(20 * time.Millisecond)))); {
	case r.random.IntN(200) == 0 && len(r.followers) < 6:
		o := FollowOptions{Lossy: r.random.IntN(2) == 0, Held: r.random.IntN(4) == 0}
		if r.random.IntN(3) == 0 {
			o.Patience = 50 * time.Millisecond
		}
		f := r.stream.Follow(o)
		r.followers = append(r.followers, f)
		r.model.next[f] = uint64(len(r.model.messages))
	case r.random.IntN(1000) == 0 && len(r.followers) > 0:
		i := r.random.IntN(len(r.followers))
		r.followers[i].Close()
		r.followers = slices.Delete(r.followers, i, i+1)
	case r.random.IntN(4) == 0 && len(r.followers) > 0:
		r.follow(r.followers[r.random.IntN(len(r.followers))])
	case r.random.IntN(20) == 0:
		r.sweep()
	case r.random.IntN(3) == 0 && len(r.claims) > 0:
		r.end(r.random.IntN(len(r.claims)))
	default:
		r.claim()
	}
}

func (r *modelRun) claim() {
	size := 8 + r.random.IntN(600)
	if r.random.IntN(30) == 0 {
		size = blockPayload
	}
	c, err := r.stream.Claim(1, 1, 0, size)
	if err != nil {
		r.mayRefuse(err)
		return
	}
	if c.Sequence() != uint64(len(r.model.messages)) {
		r.Fatalf("sequence %d, want %d", c.Sequence(), len(r.model.messages))
	}
	fill(c.Bytes(), c.Sequence())
	r.model.messages = append(r.model.messages, modelMessage{size: size, since: r.clock.now})
	r.claims = append(r.claims, c)
}

// mayRefuse checks that every block is taken, and for a reason.
func (r *modelRun) mayRefuse(err error) {
	r.refused++
	stats := r.stream.Stats()
	if err != ErrBackPressure || stats.Free > 0 {
		r.Fatalf("%v with %+v", err, stats)
	}
	if stats.SetAside+1 >= stats.Blocks {
		return // claims that nobody answers
	}
	for _, f := range r.followers {
		if f.gating.Load() && f.word.Load()>>1 == r.stream.head.Load() {
			return
		}
	}
	r.Fatalf("%v, and nobody holds the oldest block: %+v", err, stats)
}

func (r *modelRun) end(i int) {
	c := r.claims[i]
	r.claims = slices.Delete(r.claims, i, i+1)
	m := &r.model.messages[c.Sequence()]
	want, end, state := error(nil), (*Claim).Commit, uint32(stateCommit)
	if r.random.IntN(4) == 0 {
		end, state = (*Claim).Abort, stateAbort
	}
	if m.state == stateExpired {
		want, state = ErrClaimExpired, stateExpired
	}
	checkFill(r, c.Bytes(), c.Sequence()) // nobody else wrote there
	if err := end(&c); err != want {
		r.Fatalf("end of %d: %v, want %v", c.sequence, err, want)
	}
	m.state = state
}

// sweep accepts whatever the stream expires, provided that it was open for long enough.
func (r *modelRun) sweep() {
	n := r.stream.Sweep(r.clock.now)
	for i := range r.claims {
		c, m := &r.claims[i], &r.model.messages[r.claims[i].sequence]
		slot := &c.block.index[c.sequence-c.block.base.Load()]
		if m.state == stateOpen && entry(slot.Load()).state() == stateExpired {
			if r.clock.now-m.since < int64(r.stream.ClaimTimeout()) {
				r.Fatalf("%d expired after %d ns", c.sequence, r.clock.now-m.since)
			}
			m.state = stateExpired
			r.expired++
			n--
		}
	}
	if n != 0 {
		r.Fatalf("%d more claims expired than there were", n)
	}
}

func (r *modelRun) follow(f *Follower) {
	if gap := f.Acquire(); gap.Count > 0 {
		next := r.model.next[f]
		if !f.lossy || gap.First != next || gap.Last+1-gap.First != gap.Count ||
			gap.Last+1 != r.stream.Stats().Head {
			r.Fatalf("gap %+v of a follower at %d; %+v", gap, next, r.stream.Stats())
		}
		r.model.next[f] = gap.Last + 1
		r.lapped++
	}
	for range r.random.IntN(30) {
		m, ok := f.Read()
		if f.block == lapped { // Acquire will say so
			r.passed(f)
			break
		}
		want := r.model.read(f)
		if m.Sequence != want || ok != (want != 0) || f.Next() != r.model.next[f] {
			r.Fatalf("read %+v, want %d", m, want)
		}
		if !ok {
			break
		}
		for r.random.IntN(4) == 0 { // others go on meanwhile
			r.claim()
		}
		b := m.Block.Bytes(m.Offset, m.Length)[frame.HeaderBytes:]
		if len(b) != r.model.messages[m.Sequence].size {
			r.Fatalf("%d is %d bytes long", m.Sequence, len(b))
		}
		checkFill(r, b, m.Sequence)
	}
	f.Release()
	if f.Cursor() != r.model.next[f] {
		r.Fatalf("cursor %d, want %d", f.Cursor(), r.model.next[f])
	}
	if f.held && r.random.IntN(2) == 0 {
		f.Hold(f.Number())
	}
}

// passed checks that f has read to where it is now, and found no message.
func (r *modelRun) passed(f *Follower) {
	for at := r.model.next[f]; at < f.Next(); at++ {
		if m := r.model.messages[at]; m.state != stateAbort && m.state != stateExpired {
			r.Fatalf("%d was passed over", at)
		}
	}
	r.model.next[f] = f.Next()
}

// fill writes bytes that tell which message they belong to, and where in it.
func fill(b []byte, sequence uint64) {
	for i := range b {
		b[i] = byte(sequence>>(i%8*8)) ^ byte(i)
	}
	binary.LittleEndian.PutUint64(b, sequence)
}

func checkFill(t testing.TB, b []byte, sequence uint64) {
	t.Helper()
	if got := binary.LittleEndian.Uint64(b); got != sequence {
		t.Fatalf("message %d where %d should be", got, sequence)
	}
	for i := 8; i < len(b); i++ {
		if want := byte(sequence>>(i%8*8)) ^ byte(i); b[i] != want {
			t.Fatalf("message %d: byte %d is %#x, want %#x", sequence, i, b[i], want)
		}
	}
}
