package ring

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fantail-io/fantail/ring/ringtest"
)

// modelItem is one message, or one gap, in the reference of a Ring.

type modelItem struct {
	message Message
	taken   uint32 // bytes consumed
	gap     Gap
}

// modelRing is what a Ring should be: a list of messages and gaps.

type modelRing struct{ items []modelItem }

// consume takes bytes, or a gap, off the front, and answers the messages that it finished.

func (m *modelRing) consume(bytes uint32) {
	for bytes > 0 {
		front := &m.items[0]
		take := min(bytes, front.message.occupied()-front.taken)
		front.taken += take
		bytes -= take
		if front.taken == front.message.occupied() {
			m.items = m.items[1:]
		}
	}
}

// gap is all gaps at the front together.

func (m *modelRing) gap() (g Gap) {
	for _, item := range m.items {
		if item.gap.Count == 0 || g.Count > 0 && item.gap.Reason != g.Reason {
			break
		}
		if g.Count == 0 {
			g.First = item.gap.First
		}
		g.Last, g.Count, g.Reason = item.gap.Last, g.Count+item.gap.Count, item.gap.Reason
	}
	return g
}

func (m *modelRing) bytes() (messages, bytes uint64) {
	for _, item := range m.items {
		if item.gap.Count == 0 {
			messages++
			bytes += uint64(item.message.occupied() - item.taken)
		}
	}
	return messages, bytes
}

type ringRun struct {
	testing.TB
	ring   *Ring
	model  modelRing
	random *rand.Rand
	all    []Message
	next   int    // in all
	last   uint64 // of the gaps that were taken
	full   int
}

func TestModelRing(t *testing.T) {
	seed := uint64(ringtest.Seed(t))
	all := testMessages(t, 2_000)
	full := 0
	for round := range uint64(40) {
		r := &ringRun{TB: t, ring: NewRing(2 << (round % 6)), all: all,
			random: rand.New(rand.NewPCG(seed, round))}
		bias := 2 + r.random.IntN(5) // how often the producer's turn comes
		for r.next < len(all)-20 {
			if r.random.IntN(bias) > 0 {
				r.produce()
			} else {
				r.consume()
			}
			r.checkFill()
		}
		for !r.ring.Empty() {
			r.consume()
		}
		if len(r.model.items) > 0 {
			t.Fatalf("%d items are left", len(r.model.items))
		}
		full += r.full
	}
	if full == 0 {
		t.Error("no ring was ever full")
	}
}

func (r *ringRun) produce() {
	m := r.all[r.next]
	switch r.random.IntN(6) {
	case 0:
		n := uint64(1 + r.random.IntN(5))
		g := Gap{First: m.Sequence, Last: m.Sequence + n - 1, Count: 1 + r.random.Uint64N(n),
			Reason: GapDropNewest + GapReason(r.random.IntN(2))}
		if r.ring.AppendGap(g) {
			r.model.items = append(r.model.items, modelItem{gap: g})
			r.next += int(n)
			return
		}
	case 1:
		r.next += r.random.IntN(3) // messages of others
		return
	default:
		run := r.all[r.next : r.next+1+r.random.IntN(5)]
		bytes := uint32(0)
		for i := range run {
			if run[i].Block != m.Block {
				run = run[:i]
				break
			}
			bytes += run[i].occupied()
		}
		if r.ring.Append(m.Block, m.Offset, bytes, uint32(len(run)), m.Sequence) {
			for _, m := range run {
				r.model.items = append(r.model.items, modelItem{message: m})
			}
			r.next += len(run)
			return
		}
	}
	r.full++
	if used := r.ring.tail.Load() - r.ring.head.Load(); used != uint64(r.ring.Slots()) {
		r.Fatalf("full with %d of %d slots", used, r.ring.Slots())
	}
}

func (r *ringRun) consume() {
	if want := r.model.gap(); want.Count > 0 {
		g, ok := r.ring.Front()
		// Of gaps that were appended one by one, what was merged comes at once. One that grew
		// after it was taken goes on where that ended, over messages that nobody misses.
		if !ok || g.Gap.First > want.First || g.Gap.First <= r.last || g.Gap.Last > want.Last ||
			g.Gap.Reason != want.Reason {
			r.Fatalf("front %+v, want %+v after %d", g, want, r.last)
		}
		r.last = g.Gap.Last
		r.ring.ConsumeGap(g.Gap)
		for count := g.Gap.Count; count > 0; r.model.items = r.model.items[1:] {
			if count < r.model.items[0].gap.Count {
				r.Fatalf("%d messages too few of %+v", count, r.model.items[0].gap)
			}
			count -= r.model.items[0].gap.Count
		}
		return
	}
	switch r.random.IntN(5) {
	case 0:
		if rest := r.rest(); r.ring.Split() != rest {
			r.Fatalf("rest is not %d", rest)
		}
		if front, ok := r.ring.Front(); ok && front.First != r.model.items[0].message.Sequence {
			r.Fatalf("front %+v, want %d", front, r.model.items[0].message.Sequence)
		}
	case 1:
		r.finish()
		if g := r.ring.Discard(uint32(1+r.random.IntN(4)), GapDropOldest); g.Count > 0 {
			for at := range g.Count {
				if item := r.model.items[at]; item.message.Sequence != g.First+at {
					r.Fatalf("discarded %+v, want %d", g, item.message.Sequence)
				}
			}
			r.model.items = r.model.items[g.Count:]
		}
	case 2:
		if r.random.IntN(10) == 0 && r.ring.Slots() < 256 {
			r.finish()
			r.ring = r.ring.Grown()
		}
	default:
		r.send(r.ring.Ranges(make([]Range, 0, 1+r.random.IntN(8))))
	}
}

func (r *ringRun) rest() uint32 {
	if len(r.model.items) == 0 || r.model.items[0].taken == 0 {
		return 0
	}
	return r.model.items[0].message.occupied() - r.model.items[0].taken
}

// finish takes the rest of a message that was consumed in part.

func (r *ringRun) finish() {
	rest := r.ring.Split()
	r.ring.Consume(rest)
	r.model.consume(rest)
	r.ring.Split()
}

// send compares the ranges' bytes with the reference's, and consumes some of them.

func (r *ringRun) send(ranges []Range) {
	var got, want []byte
	for i := range ranges {
		got = append(got, ranges[i].View()...)
	}
	for _, item := range r.model.items {
		if item.gap.Count > 0 {
			break
		}
		m := item.message
		want = append(want, m.Block.Bytes(m.Offset+item.taken, m.occupied()-item.taken)...)
	}
	if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || len(got) == 0 && len(want) > 0 {
		r.Fatalf("ranges of %d bytes are not the start of %d", len(got), len(want))
	}
	n := uint32(len(got))
	if n > 0 && r.random.IntN(2) == 0 {
		n = uint32(r.random.IntN(len(got)))
	}
	r.ring.Consume(n)
	r.model.consume(n)
}

// checkFill compares Fill. Messages that were sent may be counted late, without Split.

func (r *ringRun) checkFill() {
	messages, bytes := r.ring.Fill()
	wantMessages, wantBytes := r.model.bytes()
	if bytes != wantBytes || messages < wantMessages {
		r.Fatalf("%d messages of %d bytes, want %d of %d", messages, bytes, wantMessages, wantBytes)
	}
	r.ring.Split()
	if messages, _ = r.ring.Fill(); messages != wantMessages {
		r.Fatalf("%d messages, want %d", messages, wantMessages)
	}
}

// Two goroutines, nothing between them but the ring: every byte comes once and in order,

// every gap in its place with its exact count, and Fill never runs below zero.

// produceAll appends messages one by one, drops some, and answers how many.
