package ring

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/fantail-io/fantail/ring/ringtest"
)

func TestStressRing(t *testing.T) {
	seed := uint64(ringtest.Seed(t))
	all := testMessages(t, 4_000)
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for round := range uint64(rounds) {
		r := NewRing(2 << (round % 4))
		lost := make(chan uint64)
		var failed atomic.Bool
		go func() { lost <- produceAll(r, all, rand.New(rand.NewPCG(seed, round)), &failed) }()
		got, missed := consumeAll(t, r, all, rand.New(rand.NewPCG(seed, round+1000)))
		failed.Store(t.Failed())
		if want := <-lost; missed != want || got+missed != uint64(len(all)) {
			t.Fatalf("%d messages and %d missed; %d sent and %d dropped", got, missed, len(all), want)
		}
		if n, bytes := r.Fill(); n != 0 || bytes != 0 || !r.Empty() {
			t.Fatalf("%d messages, %d bytes are left", n, bytes)
		}
	}
}

func produceAll(r *Ring, all []Message, random *rand.Rand, failed *atomic.Bool) (lost uint64) {
	for _, m := range all {
		var ok bool
		drop := random.IntN(10) < 3
		for !ok && !failed.Load() {
			if drop {
				ok = r.AppendGap(Gap{First: m.Sequence, Last: m.Sequence, Count: 1, Reason: GapDropNewest})
			} else {
				ok = r.Append(m.Block, m.Offset, m.occupied(), 1, m.Sequence)
			}
			if !ok {
				runtime.Gosched()
			}
		}
		if drop {
			lost++
		}
	}
	return lost
}

func consumeAll(t *testing.T, r *Ring, all []Message, random *rand.Rand) (got, missed uint64) {
	next, taken := 0, uint32(0) // in all
	sent := false               // since the last Split
	for next < len(all) {
		if n, bytes := r.Fill(); n > uint64(len(all)) || bytes > 1<<40 {
			t.Errorf("fill of %d messages, %d bytes", n, bytes)
			return
		}
		ranges := r.Ranges(make([]Range, 0, 4))
		if len(ranges) == 0 {
			runtime.Gosched()
			continue
		}
		if g := ranges[0].Gap; g.Count > 0 {
			if g.First != all[next].Sequence || g.Last != g.First+g.Count-1 || taken != 0 {
				t.Errorf("gap %+v at %d", g, all[next].Sequence)
				return
			}
			r.ConsumeGap(g)
			missed += g.Count
			next += int(g.Count)
			continue
		}
		if random.IntN(8) == 0 && taken == 0 {
			if sent {
				r.Split()
				sent = false
			}
			g := r.Discard(1+uint32(random.IntN(3)), GapDropOldest)
			if g.First != all[next].Sequence {
				t.Errorf("discarded %+v at %d", g, all[next].Sequence)
				return
			}
			next += int(g.Count)
			got += g.Count
			continue
		}
		for i := range ranges {
			view := ranges[i].View()
			if random.IntN(2) == 0 {
				view = view[:1+random.IntN(len(view))]
			}
			r.Consume(uint32(len(view)))
			sent = true
			for len(view) > 0 {
				m := &all[next]
				want := m.Block.Bytes(m.Offset, m.occupied())[taken:]
				n := min(len(want), len(view))
				if &want[0] != &view[0] {
					t.Errorf("another place than that of %d", m.Sequence)
					return
				}
				view, taken = view[n:], taken+uint32(n)
				if taken == m.occupied() {
					next, taken = next+1, 0
					got++
				}
			}
			if i+1 < len(ranges) && ranges[i].Bytes > 0 {
				break // the rest may not follow what was taken in part
			}
		}
	}
	return got, missed
}
