package counter

import (
	"sync"
	"testing"
)

func TestCounter(t *testing.T) {
	var c Counter
	var m Max
	for _, n := range []uint64{3, 0, 1 << 40, 7} {
		c.Add(n)
		m.Observe(n)
	}
	c.Inc()
	if c.Load() != 1<<40+11 || m.Load() != 1<<40 {
		t.Errorf("%d, %d", c.Load(), m.Load())
	}
}

// Readers never see a counter go back, nor half of one.
func TestStressCounterIsReadByOthers(t *testing.T) {
	const step = 1<<32 + 1
	n := uint64(200_000)
	if testing.Short() {
		n = 20_000
	}
	var c Counter
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for last := uint64(0); last < n*step; {
				now := c.Load()
				if now < last || now%step != 0 {
					t.Errorf("%#x after %#x", now, last)
					return
				}
				last = now
			}
		})
	}
	for range n {
		c.Add(step)
	}
	wg.Wait()
}

// 64-bit atomics need their alignment on 32-bit processors, too.
func TestCounterIsAligned(t *testing.T) {
	var s struct {
		a uint32
		c Counter
		b uint32
		m Max
	}
	s.c.Inc() // panics there if it is not aligned
	s.m.Observe(2)
	if s.c.Load() != 1 || s.m.Load() != 2 || s.a+s.b != 0 {
		t.Error("a counter overlaps its neighbours")
	}
}
