package load

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestPutAndCheckAgree(t *testing.T) {
	for _, size := range []int{0, 1, 4, 7, 8, 9, 16, 20, 500, 20_000} {
		p, other := NewPattern(size), NewPattern(size)
		b := make([]byte, size)
		for _, n := range []uint64{1, 2, 255, 256, 257, 1 << 40} {
			p.Put(b, n)
			if !other.Check(b, n) {
				t.Fatalf("size %d, message %d: not recognised", size, n)
			}
			if size > 0 && other.Check(b, n+1) {
				t.Fatalf("size %d: message %d passes for the next", size, n)
			}
			for i := 0; i < size; i += 1 + size/100 {
				b[i] ^= 0x40
				if other.Check(b, n) {
					t.Fatalf("size %d, message %d: byte %d is not looked at", size, n, i)
				}
				b[i] ^= 0x40
				i += size / 50
			}
			if size > 0 && other.Check(b[:size-1], n) {
				t.Fatalf("size %d: a cut payload passes", size)
			}
		}
	}
}

func TestStampedAndCountdown(t *testing.T) {
	p := NewPattern(50)
	b := make([]byte, 50)
	p.PutStamped(b, 7, 12345)
	if due, ok := p.CheckStamped(b, 7); !ok || due != 12345 {
		t.Fatalf("stamped: %d, %v", due, ok)
	}
	b[49]++
	if _, ok := p.CheckStamped(b, 7); ok {
		t.Fatal("a changed byte passes")
	}
	if _, ok := p.CheckStamped(b[:10], 7); ok {
		t.Fatal("a payload without a stamp passes")
	}
	p.PutCountdown(b, 9)
	if !p.CheckCountdown(b, 9) || Countdown(b) != 9 || b[3] != 9 {
		t.Fatalf("countdown: % x", b[:4])
	}
	b[20]++
	if p.CheckCountdown(b, 9) || p.CheckCountdown(b, 8) || Countdown(nil) != 0 {
		t.Fatal("a wrong countdown passes")
	}
}

func TestTrackerFindsEveryFault(t *testing.T) {
	p := NewPattern(100)
	payload := func(n uint64) []byte {
		b := make([]byte, 100)
		p.Put(b, n)
		return b
	}
	tr := NewTracker(p)
	for _, n := range []uint64{1, 2, 3, 6, 6, 5, 7} {
		tr.See(payload(n))
	}
	bad := payload(8)
	bad[60]++
	tr.See(bad)
	tr.See(payload(9))
	tr.Gap(2)
	tr.End(11)
	want := Counts{Received: 6, Bytes: 600, Lost: 4, Repeated: 2, Corrupt: 1, Gaps: 1, GapCount: 2}
	if got := tr.Counts(); got != want {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
	c := tr.Counts()
	if got := c.Faults(); got != 5 {
		t.Fatalf("%d faults, want 2 repeated + 1 corrupt + 2 lost in silence", got)
	}
	var sum Counts
	sum.Add(want)
	sum.Add(want)
	if sum.Received != 12 || sum.GapCount != 4 {
		t.Fatalf("sum: %+v", sum)
	}
}

func TestTrackerOfStampedMessages(t *testing.T) {
	p := NewPattern(64)
	tr := NewTracker(p)
	b := make([]byte, 64)
	for _, n := range []uint64{1, 2, 4} {
		p.PutStamped(b, n, int64(n))
		if due, ok := tr.SeeStamped(b); !ok || due != int64(n) {
			t.Fatalf("message %d: due %d, %v", n, due, ok)
		}
	}
	b[63]++
	if _, ok := tr.SeeStamped(b); ok {
		t.Fatal("a changed byte passes")
	}
	if got := tr.Counts(); got.Received != 3 || got.Lost != 1 || got.Corrupt != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestClocksOfOneHostAgree(t *testing.T) {
	a, b := NewClock(), NewClock()
	before := a.Now()
	between := b.Now()
	after := a.Now()
	const slack = int64(time.Millisecond)
	if between < before-slack || between > after+slack {
		t.Fatalf("clocks differ: %d, %d, %d", before, between, after)
	}
}

func TestPacerKeepsItsTimes(t *testing.T) {
	p := NewPacer(NewClock(), 10_000, Oversleep)
	defer p.Close()
	first := p.Due()
	for i := range int64(50) {
		due, ok := p.Wait(context.Background())
		if !ok || due != first+i*100_000 {
			t.Fatalf("message %d is due at %d after the first, %v", i, due-first, ok)
		}
		if now := p.clock.Now(); now < due {
			t.Fatalf("message %d came %d ns before its time", i, due-now)
		}
	}
}

func TestPacerEndsWithItsContext(t *testing.T) {
	p := NewPacer(NewClock(), 0.01, 0) // the second message is due in 100 s
	defer p.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Wait(ctx)
	if _, ok := p.Wait(ctx); ok {
		t.Fatal("Wait goes on without a context")
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, size := range []int{20, 500, 20_000} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			p := NewPattern(size)
			payload := make([]byte, size)
			p.Put(payload, 3)
			b.ReportAllocs()
			for b.Loop() {
				if !p.Check(payload, 3) {
					b.Fatal("wrong")
				}
			}
		})
	}
}

func BenchmarkClock(b *testing.B) {
	c := NewClock()
	for b.Loop() {
		c.Now()
	}
}
