package ring

import (
	"testing"

	"github.com/fantail-io/fantail/ring/frame"
)

func TestFollowSeesWhatIsClaimedLater(t *testing.T) {
	s, _ := newTestStream(t, 4)
	before := mustClaim(t, s, 8)
	f := s.Follow(FollowOptions{Lossy: true})
	defer f.Close()
	publish(t, s, 8)
	if err := before.Commit(); err != nil {
		t.Fatal(err)
	}
	_, got := poll(t, f)
	wantRun(t, got, 2, 2)
}

// A follower that joins a full block starts in the next one.

func TestFollowAtTheEndOfABlock(t *testing.T) {
	s, _ := newTestStream(t, 4)
	publish(t, s, blockPayload)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	publish(t, s, 8)
	_, got := poll(t, f)
	wantRun(t, got, 2, 2)
}

// It was lapped in the very block that it had read to the end: nothing was missed.

// A follower finds out that it was lapped when it crosses into the next block.

// Lossy readers at rest in every block but the current never slow a publisher.

// Patience counts while publishers wait, not while others make room.

func TestHeldFollowerHolds(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{Held: true, Lossy: true}) // Held has precedence
	defer f.Close()
	for range 4 {
		publish(t, s, blockPayload)
	}
	var all []Message
	f.Acquire()
	for {
		m, ok := f.Read()
		if !ok {
			break
		}
		all = append(all, m)
	}
	f.Release()
	if f.Number() != 3 || len(all) != 4 {
		t.Fatalf("block %d, %d messages", f.Number(), len(all))
	}
	full := func(want bool) {
		t.Helper()
		_, err := s.Publish(1, 1, 0, make([]byte, blockPayload))
		if (err == ErrBackPressure) != want {
			t.Fatalf("%v, full %v", err, want)
		}
	}
	full(true)
	f.Hold(0)
	full(true)
	f.Hold(2)
	for _, m := range all[2:] {
		check(t, m)
	}
	full(false)
	f.Hold(1) // what was given up cannot be had back
	full(false)
	full(true)
	f.Hold(100) // nor can what was not read be given up
	full(false)
	full(true)
	f.Acquire()
	defer f.Release()
	for want := range uint64(3) {
		if m, ok := f.Read(); !ok || m.Sequence != want+5 {
			t.Fatalf("%+v, %v, want %d", m, ok, want+5)
		}
	}
}

func TestSkipTo(t *testing.T) {
	for _, lossy := range []bool{false, true} {
		s, _ := newTestStream(t, 8)
		f := s.Follow(FollowOptions{Lossy: lossy})
		defer f.Close()
		var last uint64
		for range 30 {
			last = publish(t, s, 900) // 4 a block
		}
		f.Acquire()
		for _, step := range []uint64{0, 1, 2, 1, 4, 8, 3} {
			from := f.Next()
			if n := f.SkipTo(from + step); n != step {
				t.Fatalf("skipped %d, want %d", n, step)
			}
			if m, ok := f.Read(); !ok || m.Sequence != from+step {
				t.Fatalf("%+v after skipping %d from %d", m, step, from)
			}
		}
		if n := f.SkipTo(3); n != 0 {
			t.Errorf("skipped %d back", n)
		}
		if f.SkipTo(last + 1); f.Ready() {
			t.Error("ready at the tail")
		}
		f.Release()
		last = publish(t, s, 8)
		_, got := poll(t, f)
		wantRun(t, got, last, last)
	}
}

// Waiters are woken when a follower has caught up, and now and then before.

func TestPassingBlocksWakes(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	for range 4 {
		publish(t, s, blockPayload)
	}
	sleeper := s.Space().NewSleeper()
	defer sleeper.Close()
	rung := func() bool {
		select {
		case <-sleeper.C():
			return true
		default:
			return false
		}
	}
	sleeper.Arm()
	poll(t, f)
	if !rung() {
		t.Error("not woken by a follower that has caught up")
	}
	sleeper.Arm()
	f.Close()
	if !rung() {
		t.Error("not woken by a follower that has gone")
	}
}

func TestCommitWakes(t *testing.T) {
	s, _ := newTestStream(t, 4)
	sleeper := s.Readers().NewSleeper()
	defer sleeper.Close()
	for _, end := range []func(*Claim) error{(*Claim).Commit, (*Claim).Abort} {
		sleeper.Arm()
		c := mustClaim(t, s, 8)
		select {
		case <-sleeper.C():
			t.Fatal("woken by an open claim")
		default:
		}
		if err := end(&c); err != nil {
			t.Fatal(err)
		}
		select {
		case <-sleeper.C():
		default:
			t.Fatal("not woken")
		}
	}
}

func TestMessageCarriesWhatItsFrameSays(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	for n := range uint32(1000) {
		if _, err := s.Publish(MaxTopics-1-n, n, int64(n)<<33, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		f.Acquire()
		m, ok := f.Read()
		if !ok {
			t.Fatal("no message")
		}
		h := frame.Get(m.Block.Bytes(m.Offset, m.Length))
		if h.Topic != MaxTopics-1-n || h.Topic != m.Topic || h.Publisher != n ||
			h.Time != int64(n)<<33 || h.Length != frame.HeaderBytes+n || h.Length != m.Length {
			t.Fatalf("%+v, %+v", m, h)
		}
		f.Release()
	}
}
