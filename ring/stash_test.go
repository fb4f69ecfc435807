package ring

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fantail-io/fantail/ring/frame"
)

// stashModel is what a Stash should be: a list.
type stashModel struct {
	conflate bool
	most     int
	queue    []frame.Header // Time holds the payload's length
	lost     uint64
}

func (m *stashModel) push(h frame.Header, fits bool) {
	if m.conflate {
		for i, q := range m.queue {
			if q.Topic != h.Topic {
				continue
			}
			m.lost++
			if frame.Aligned(int(q.Length)) == frame.Aligned(int(h.Length)) {
				m.queue[i] = h // in place
				return
			}
			m.queue = slices.Delete(m.queue, i, i+1)
			break
		}
	}
	if !fits || len(m.queue) >= m.most {
		m.lost++
		return
	}
	m.queue = append(m.queue, h)
}

func TestModelStash(t *testing.T) {
	for _, conflate := range []bool{false, true} {
		for seed := range uint64(50) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			s := &Stash{MaxMessages: 20, MaxBytes: 1 << 20, Conflate: conflate}
			m := &stashModel{conflate: conflate, most: 20}
			var told uint64
			for n := range uint64(2000) {
				if rnd.IntN(3) > 0 {
					payload := binary.LittleEndian.AppendUint64(nil, n)
					payload = append(payload, make([]byte, 8*rnd.IntN(3))...)
					f := frame.Append(nil, frame.Header{Kind: frame.Data, Sequence: n + 1,
						Topic: uint32(rnd.IntN(30))}, payload)
					s.Push(f)
					m.push(frame.Get(f), true)
				} else {
					told += takeGaps(t, s)
					popOne(t, s, m, conflate, seed)
				}
				if s.Len() != len(m.queue) {
					t.Fatalf("seed %d: %d queued, want %d", seed, s.Len(), len(m.queue))
				}
			}
			for s.Len() > 0 {
				told += takeGaps(t, s)
				popOne(t, s, m, conflate, seed)
			}
			if told += takeGaps(t, s); told != m.lost {
				t.Fatalf("seed %d: told of %d lost messages, want %d", seed, told, m.lost)
			}
		}
	}
}

func takeGaps(t *testing.T, s *Stash) (told uint64) {
	t.Helper()
	for g := s.TakeGap(); g.Count > 0; g = s.TakeGap() {
		if g.First > g.Last || g.Last-g.First+1 < g.Count || g.Reason == GapNone {
			t.Fatalf("gap %+v", g)
		}
		told += g.Count
	}
	return told
}

func popOne(t *testing.T, s *Stash, m *stashModel, conflate bool, seed uint64) {
	t.Helper()
	view := s.View()
	if len(m.queue) == 0 {
		if view != nil {
			t.Fatalf("seed %d: conflate %v: a frame where none is queued", seed, conflate)
		}
		return
	}
	want := m.queue[0]
	m.queue = m.queue[1:]
	h, payload, n, err := frame.Parse(view, frame.MaxBytes)
	if err != nil || n != len(view) || h != want ||
		binary.LittleEndian.Uint64(payload)+1 != h.Sequence {
		t.Fatalf("seed %d: conflate %v: %+v, want %+v: %v", seed, conflate, h, want, err)
	}
	s.Pop()
}

func TestStashIsBoundedInBytes(t *testing.T) {
	s := &Stash{MaxMessages: 1 << 20, MaxBytes: 10_000}
	f := frame.Append(nil, frame.Header{Kind: frame.Data, Sequence: 1}, make([]byte, 968))
	for range 100 {
		s.Push(f)
	}
	if s.Len() != 10 || s.Bytes() != 10_000 || cap(s.buffer) > 20_000 {
		t.Errorf("%d messages, %d bytes, %d of memory", s.Len(), s.Bytes(), cap(s.buffer))
	}
}

// Replacing messages by others of another size must not fill the stash.
func TestConflationNeverRunsOutOfRoom(t *testing.T) {
	s := &Stash{MaxMessages: 10, MaxBytes: 10_000, Conflate: true}
	for n := range 10_000 {
		f := frame.Append(nil, frame.Header{Kind: frame.Data, Sequence: uint64(n), Topic: uint32(n % 3)},
			make([]byte, 8*(n%7)))
		if !s.Push(f) {
			t.Fatalf("message %d of 3 topics had no room in %d bytes", n, s.Bytes())
		}
	}
	if cap(s.buffer) > 40_000 {
		t.Errorf("%d bytes of memory", cap(s.buffer))
	}
}

// A subscriber that always lags a little must hear of its losses, where they belong.
func TestDropsAreToldAmongTheMessages(t *testing.T) {
	s := &Stash{MaxMessages: 4, MaxBytes: 1 << 20}
	next := uint64(1)
	var lost uint64
	for n := range uint64(1000) {
		s.Push(frame.Append(nil, frame.Header{Kind: frame.Data, Sequence: n + 1}, nil))
		if n%2 == 0 || s.Len() < 4 {
			continue
		}
		for g := s.TakeGap(); g.Count > 0; g = s.TakeGap() {
			if g.First != next || g.Last-g.First+1 != g.Count {
				t.Fatalf("gap %+v where %d is next", g, next)
			}
			next, lost = g.Last+1, lost+g.Count
		}
		if h := frame.Get(s.View()); h.Sequence != next {
			t.Fatalf("sequence %d, want %d", h.Sequence, next)
		}
		s.Pop()
		next++
	}
	if lost < 400 {
		t.Errorf("told of %d lost messages while lagging", lost)
	}
}
