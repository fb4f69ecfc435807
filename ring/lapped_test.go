package ring

import (
	"encoding/binary"
	"testing"
	"time"
)

func TestLappedFollowerReportsExactGap(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{Lossy: true})
	defer f.Close()
	var published, delivered, lost uint64
	for round := range 50 {
		for range round {
			published = publish(t, s, 8+round*37%900)
		}
		want := f.Next()
		gap, got := poll(t, f)
		if gap.Count > 0 {
			if gap.First != want || gap.Count != gap.Last-gap.First+1 || gap.Reason != GapLapped ||
				gap.Last+1 != s.Stats().Head {
				t.Fatalf("gap %+v at %d, head %d", gap, want, s.Stats().Head)
			}
			want = gap.Last + 1
		}
		wantRun(t, got, want, published)
		delivered += uint64(len(got))
		lost += gap.Count
	}
	if delivered+lost != published || lost == 0 || delivered == 0 {
		t.Errorf("%d delivered and %d lost, %d published", delivered, lost, published)
	}
}

func TestLappedFollowerThatMissedNothing(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{Lossy: true})
	defer f.Close()
	publish(t, s, blockPayload)
	_, got := poll(t, f)
	wantRun(t, got, 1, 1)
	for range 4 {
		publish(t, s, blockPayload)
	}
	if s.Stats().Head != 2 {
		t.Fatalf("head %d", s.Stats().Head)
	}
	gap, got := poll(t, f)
	wantRun(t, got, 2, 5)
	if gap != (Gap{}) {
		t.Errorf("gap %+v", gap)
	}
}

func TestLappedWhileReading(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{Lossy: true})
	defer f.Close()
	publish(t, s, blockPayload)
	f.Acquire()
	for range 8 {
		publish(t, s, blockPayload)
	}
	m, ok := f.Read()
	if !ok || m.Sequence != 1 {
		t.Fatalf("%+v", m)
	}
	check(t, m)
	for range 3 {
		if m, ok := f.Read(); ok || f.Ready() {
			t.Fatalf("%+v from a block that is gone", m)
		}
		if n := f.SkipTo(s.Tail()); n != 0 {
			t.Fatalf("skipped %d messages of a block that is gone", n)
		}
	}
	f.Release()
	gap, got := poll(t, f)
	if gap.First != 2 || gap.Last+1 != got[0] || got[len(got)-1] != 9 {
		t.Errorf("gap %+v, then %v", gap, got)
	}
}

func TestSlowReaderPinsOneBlockOnly(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{Lossy: true})
	defer f.Close()
	publish(t, s, blockPayload)
	f.Acquire()
	m, ok := f.Read()
	if !ok {
		t.Fatal("no message")
	}
	for range 100 {
		publish(t, s, blockPayload) // never ErrBackPressure
		check(t, m)
	}
	if got := s.Stats(); got.SetAside != 1 {
		t.Errorf("%d blocks set aside, want 1", got.SetAside)
	}
	sleeper := s.Space().NewSleeper()
	defer sleeper.Close()
	sleeper.Arm()
	f.Release()
	select {
	case <-sleeper.C():
	default:
		t.Error("nobody said that the block can be had")
	}
	for range 4 {
		publish(t, s, blockPayload)
	}
	if got := s.Stats(); got.SetAside != 0 {
		t.Errorf("%d blocks set aside, want 0", got.SetAside)
	}
}

func TestLappingGoesPastPinnedBlocks(t *testing.T) {
	s, _ := newTestStream(t, 8)
	for range 6 {
		f := s.Follow(FollowOptions{Lossy: true})
		defer f.Close()
		f.Acquire()
		publish(t, s, blockPayload)
	}
	for range 100 {
		publish(t, s, blockPayload)
	}
	// The first two are both in block 0.
	if got := s.Stats(); got.SetAside != 5 || got.BackPressure != 0 {
		t.Errorf("%+v", got)
	}
}

func TestWaitForGivesUp(t *testing.T) {
	s, clock := newTestStream(t, 4)
	f := s.Follow(FollowOptions{Patience: 10 * time.Millisecond})
	defer f.Close()
	refused := func() bool {
		c, err := s.Claim(1, 1, 0, blockPayload)
		if err == ErrBackPressure {
			return true
		}
		binary.LittleEndian.PutUint64(c.Bytes(), c.Sequence())
		if err = c.Commit(); err != nil {
			t.Fatal(err)
		}
		return false
	}
	for range 4 {
		if refused() {
			t.Fatal("refused with blocks left")
		}
		clock.advance(time.Hour) // nobody waits yet
	}
	for range 10 { // from the first refusal to the tenth, 9 ms pass
		if !refused() {
			t.Fatal("it did not gate")
		}
		clock.advance(time.Millisecond)
	}
	if refused() {
		t.Fatal("it gates after its patience ended")
	}
	gap, got := poll(t, f)
	if gap.First != 1 || gap.Last+1 != got[0] || got[len(got)-1] != 5 {
		t.Fatalf("gap %+v, messages %v", gap, got)
	}
	// It has caught up, and gates anew.
	for range 3 {
		if refused() {
			t.Fatal("refused with blocks left")
		}
	}
	clock.advance(time.Hour)
	if !refused() {
		t.Error("it does not gate any more")
	}
	// Progress starts its patience anew.
	clock.advance(9 * time.Millisecond)
	f.Acquire()
	f.Read()
	f.Release()
	if refused() {
		t.Fatal("refused although it passed a block")
	}
	for range 10 {
		if !refused() {
			t.Fatal("it lost its patience early")
		}
		clock.advance(time.Millisecond)
	}
	if refused() {
		t.Error("it gates after its patience ended")
	}
}

func TestPatienceIsForgotten(t *testing.T) {
	s, clock := newTestStream(t, 4)
	f := s.Follow(FollowOptions{Patience: 10 * time.Millisecond})
	defer f.Close()
	g := s.Follow(FollowOptions{})
	for range 4 {
		publish(t, s, blockPayload)
	}
	f.Acquire()
	f.Read()
	f.Read() // in the second block
	f.Release()
	if _, err := s.Claim(1, 1, 0, 0); err != ErrBackPressure { // f and g are both slow
		t.Fatal(err)
	}
	g.Close()
	publish(t, s, blockPayload)
	clock.advance(time.Hour)
	if _, err := s.Claim(1, 1, 0, 0); err != ErrBackPressure {
		t.Errorf("%v: its patience ran while nobody waited for it", err)
	}
}
