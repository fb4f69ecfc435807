package ring

import (
	"math"
	"testing"

	"github.com/fantail-io/fantail/ring/frame"
)

// testMessages publishes n messages, and keeps the stream from reusing their blocks.
func testMessages(t testing.TB, n int) []Message {
	t.Helper()
	s, _ := newTestStream(t, n/4+4)
	f := s.Follow(FollowOptions{Held: true})
	t.Cleanup(f.Close)
	all := make([]Message, 0, n)
	for i := range n {
		c := mustClaim(t, s, 8+i*37%800)
		fill(c.Bytes(), c.Sequence())
		if err := c.Commit(); err != nil {
			t.Fatal(err)
		}
		f.Acquire()
		m, ok := f.Read()
		f.Release()
		if !ok {
			t.Fatal("no message")
		}
		all = append(all, m)
	}
	return all
}

// occupied is what the message occupies, with its padding.
func (m *Message) occupied() uint32 { return uint32(frame.Aligned(int(m.Length))) }

func appendAll(t testing.TB, r *Ring, messages ...Message) {
	t.Helper()
	for _, m := range messages {
		if !r.Append(m.Block, m.Offset, m.occupied(), 1, m.Sequence) {
			t.Fatalf("full at %d", m.Sequence)
		}
	}
}

func TestRingMergesNeighbours(t *testing.T) {
	all := testMessages(t, 40)
	r := NewRing(2)
	n := 0
	for all[n].Block == all[0].Block {
		n++
	}
	appendAll(t, r, all[:n]...)
	appendAll(t, r, all[n])
	g, ok := r.Front()
	if !ok || g.Count != uint32(n) || g.First != 1 || g.Offset != 0 || g.Block != all[0].Block {
		t.Errorf("front %+v", g)
	}
	if got := r.Ranges(make([]Range, 0, 8)); len(got) != 2 || got[1].First != uint64(n)+1 {
		t.Errorf("ranges %+v", got)
	}
	if r.Append(all[0].Block, 0, 64, 1, 1000) {
		t.Error("a third range in two slots")
	}
	if r.AppendGap(Gap{First: 1000, Last: 1000, Count: 1, Reason: GapDropNewest}) {
		t.Error("a gap in a full ring")
	}
	if got := r.Ranges(nil); len(got) != 0 {
		t.Errorf("%d ranges where there is room for none", len(got))
	}
}

func TestRingNeverMergesOverAHole(t *testing.T) {
	all := testMessages(t, 3)
	r := NewRing(4)
	appendAll(t, r, all[0], all[2])
	if got := r.Ranges(make([]Range, 0, 8)); len(got) != 2 || got[0].Count != 1 || got[1].First != 3 {
		t.Errorf("ranges %+v", got)
	}
}

func TestRingAnswersGapsInTheirPlace(t *testing.T) {
	all := testMessages(t, 8)
	r := NewRing(8)
	appendAll(t, r, all[0])
	for _, g := range []Gap{{First: 2, Last: 2, Count: 1}, {First: 3, Last: 5, Count: 2}} {
		g.Reason = GapDropNewest
		if !r.AppendGap(g) {
			t.Fatal("full")
		}
	}
	r.AppendGap(Gap{First: 6, Last: 6, Count: 1, Reason: GapExpired})
	appendAll(t, r, all[6])
	if got := r.Ranges(make([]Range, 0, 8)); len(got) != 1 || got[0].First != 1 {
		t.Fatalf("ranges %+v", got)
	}
	r.Consume(all[0].occupied())
	want := []Gap{{First: 2, Last: 5, Count: 3, Reason: GapDropNewest},
		{First: 6, Last: 6, Count: 1, Reason: GapExpired}}
	for _, want := range want {
		if got := r.Ranges(make([]Range, 0, 8)); len(got) != 1 || got[0].Gap != want {
			t.Fatalf("ranges %+v, want %+v", got, want)
		}
		r.ConsumeGap(want)
	}
	if g, ok := r.Front(); !ok || g.First != 7 {
		t.Errorf("front %+v", g)
	}
}

// A gap that the consumer has taken may still grow: what is new comes as another gap.
func TestRingGapGrowsAfterItWasTaken(t *testing.T) {
	r := NewRing(2)
	var next uint64 = 1
	for range 100 {
		if !r.AppendGap(Gap{First: next, Last: next + 4, Count: 2, Reason: GapLapped}) {
			t.Fatal("full")
		}
		g, ok := r.Front()
		if want := (Gap{First: next, Last: next + 4, Count: 2, Reason: GapLapped}); !ok || g.Gap != want {
			t.Fatalf("%+v, want %+v", g.Gap, want)
		}
		r.ConsumeGap(g.Gap)
		if !r.Empty() {
			t.Fatal("not empty")
		}
		next += 5
	}
}

// Gaps of more than 2³² messages are exact, whether they come at once or grow.
func TestRingGapsAreNeverTruncated(t *testing.T) {
	const huge = 3 * math.MaxUint32
	for _, step := range []uint64{huge, math.MaxUint32 - 1, math.MaxUint32, math.MaxUint32 / 3} {
		r := NewRing(64)
		var first, count uint64 = 1, 0
		for ; first <= huge; first += step {
			g := Gap{First: first, Last: first + step - 1, Count: step, Reason: GapLapped}
			if !r.AppendGap(g) {
				t.Fatal("full")
			}
		}
		next := uint64(1)
		for {
			g, ok := r.Front()
			if !ok {
				break
			}
			if g.Gap.First != next || g.Gap.Last-g.Gap.First+1 != g.Gap.Count || g.Bytes != 0 {
				t.Fatalf("step %d: %+v at %d", step, g.Gap, next)
			}
			count += g.Gap.Count
			next = g.Gap.Last + 1
			r.ConsumeGap(g.Gap)
		}
		if next != first || count != first-1 {
			t.Errorf("step %d: %d messages, up to %d; want %d", step, count, next, first)
		}
	}
}

func TestRingPartialConsumption(t *testing.T) {
	all := testMessages(t, 5)
	r := NewRing(2)
	appendAll(t, r, all...)
	r.Consume(all[0].occupied() + 3)
	if rest := r.Split(); rest != all[1].occupied()-3 {
		t.Errorf("rest %d, want %d", rest, all[1].occupied()-3)
	}
	if g, _ := r.Front(); g.First != 2 || g.Count != 4 || g.Offset != all[1].Offset+3 {
		t.Errorf("front %+v", g)
	}
	if n, _ := r.Fill(); n != 4 {
		t.Errorf("%d messages, want 4", n)
	}
	r.Consume(all[1].occupied() - 3)
	if rest := r.Split(); rest != 0 {
		t.Errorf("rest %d", rest)
	}
	want := Gap{First: 3, Last: 4, Count: 2, Reason: GapDropOldest}
	if g := r.Discard(2, GapDropOldest); g != want {
		t.Errorf("discarded %+v", g)
	}
	want = Gap{First: 5, Last: 5, Count: 1, Reason: GapDropOldest}
	if g := r.Discard(9, GapDropOldest); g != want {
		t.Errorf("discarded %+v", g)
	}
	if g := r.Discard(9, GapDropOldest); g != (Gap{}) {
		t.Errorf("discarded %+v of nothing", g)
	}
	if n, bytes := r.Fill(); n != 0 || bytes != 0 || !r.Empty() {
		t.Errorf("%d messages, %d bytes are left", n, bytes)
	}
}

// The last range is kept until there is a next one, also when it is consumed: it may grow.
func TestRingGrowsItsConsumedFront(t *testing.T) {
	all := testMessages(t, 5)
	r := NewRing(2)
	for i, m := range all {
		appendAll(t, r, m)
		g, ok := r.Front()
		if !ok || g.First != uint64(i)+1 || g.Count != 1 || g.Bytes != m.occupied() {
			t.Fatalf("front %+v", g)
		}
		r.Consume(g.Bytes)
		if !r.Empty() {
			t.Fatal("not empty")
		}
	}
	if r.tail.Load() != 1 {
		t.Errorf("%d slots used, want 1", r.tail.Load())
	}
}

// The producer extends a range that is being discarded: what was discarded stays so.
func TestRingExtendedWhileDiscarded(t *testing.T) {
	all := testMessages(t, 4)
	for name, take := range map[string]func(*Ring) uint64{
		"Discard": func(r *Ring) uint64 { return r.Discard(2, GapDropOldest).Count },
		"Drop":    func(r *Ring) uint64 { g, _ := r.Drop(); return uint64(g.Count) },
	} {
		r := NewRing(2)
		appendAll(t, r, all[:2]...)
		g, _ := r.Front()
		appendAll(t, r, all[2]) // between Front and Consume
		r.Consume(g.Bytes)
		r.Split()
		if n := take(r); n != 1 {
			t.Errorf("%s: took %d messages, want 1", name, n)
		}
		appendAll(t, r, all[3])
		if g, _ := r.Front(); g.First != 4 || g.Count != 1 {
			t.Errorf("%s: front %+v", name, g)
		}
		if n, _ := r.Fill(); n != 1 {
			t.Errorf("%s: %d messages, want 1", name, n)
		}
	}
}

func TestRingGrown(t *testing.T) {
	all := testMessages(t, 30)
	r := NewRing(8)
	for i := 0; i < len(all); i += 3 {
		if !r.Append(all[i].Block, all[i].Offset, all[i].occupied(), 1, all[i].Sequence) {
			r = r.Grown()
			appendAll(t, r, all[i])
		}
	}
	r.AppendGap(Gap{First: 31, Last: 40, Count: 10, Reason: GapDropNewest})
	r = r.Grown()
	if r.Slots() != 32 {
		t.Errorf("%d slots", r.Slots())
	}
	for i := 0; i < len(all); i += 3 {
		g, ok := r.Drop()
		if !ok || g.First != all[i].Sequence || g.Count != 1 {
			t.Fatalf("%+v, want %d", g, all[i].Sequence)
		}
	}
	if g, ok := r.Drop(); !ok || g.Gap.Count != 10 || !r.Empty() {
		t.Errorf("%+v", g)
	}
}
