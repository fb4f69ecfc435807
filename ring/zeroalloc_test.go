//go:build !race

package ring

import "testing"

// wantNoAllocs checks that f, once warm, allocates nothing.
func wantNoAllocs(t *testing.T, f func()) {
	t.Helper()
	if n := testing.AllocsPerRun(2_000, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestZeroAllocPublish(t *testing.T) {
	s, _ := newTestStream(t, 8)
	for _, o := range []FollowOptions{{}, {Lossy: true}, {Patience: 1 << 40}} {
		f := s.Follow(o)
		defer f.Close()
		payload := make([]byte, 500)
		wantNoAllocs(t, func() { // rolls included: nine messages fill a block
			if _, err := s.Publish(1, 1, 0, payload); err != nil && err != ErrBackPressure {
				t.Fatal(err)
			}
			c, err := s.Claim(1, 1, 0, 100)
			if err == nil {
				_ = c.Abort()
			}
		})
	}
}

func TestZeroAllocFollow(t *testing.T) {
	for _, o := range []FollowOptions{{}, {Lossy: true}, {Patience: 1 << 40}, {Held: true}} {
		s, clock := newTestStream(t, 4)
		f := s.Follow(o)
		defer f.Close()
		payload := make([]byte, 500)
		wantNoAllocs(t, func() {
			for range 40 { // more than the stream holds
				if _, err := s.Publish(1, 1, 0, payload); err != nil {
					break
				}
			}
			f.Acquire()
			for {
				if _, ok := f.Read(); !ok {
					break
				}
			}
			f.Release()
			f.Hold(f.Number())
			s.Sweep(clock.advance(1))
		})
	}
}

func TestZeroAllocRing(t *testing.T) {
	all := testMessages(t, 40)
	r := NewRing(64)
	ranges := make([]Range, 0, 16)
	wantNoAllocs(t, func() {
		appendAll(t, r, all...)
		if !r.AppendGap(Gap{First: 41, Last: 50, Count: 10, Reason: GapDropNewest}) {
			t.Fatal("full")
		}
		for {
			ranges = r.Ranges(ranges[:0])
			g, ok := r.Front()
			switch {
			case !ok:
				return
			case g.Gap.Count > 0:
				r.ConsumeGap(g.Gap)
			case g.Count > 1:
				r.Discard(1, GapDropOldest)
			default:
				r.Consume(8)
				r.Consume(r.Split())
				r.Split()
			}
		}
	})
}
