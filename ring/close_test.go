package ring

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring/frame"
)

func TestRefuse(t *testing.T) {
	for _, full := range []bool{false, true} {
		s, _ := newTestStream(t, 4)
		f := s.Follow(FollowOptions{})
		defer f.Close()
		publish(t, s, 8)
		last := uint64(1)
		if full {
			for range 4 {
				last = publish(t, s, blockPayload)
				if s.Stats().Free == 0 {
					break
				}
			}
			if _, err := s.Claim(1, 1, 0, 0); err != ErrBackPressure {
				t.Fatal(err)
			}
		}
		for range 10_000 { // once is enough; more must not wrap the tail
			s.Refuse()
		}
		if _, err := s.Claim(1, 1, 0, 0); err != ErrClosed {
			t.Errorf("%v, want ErrClosed", err)
		}
		if s.Tail() != last+1 {
			t.Errorf("tail %d, want %d", s.Tail(), last+1)
		}
		_, got := poll(t, f)
		wantRun(t, got, 1, last)
	}
}

func TestRefuseBeatsARollUnderWay(t *testing.T) {
	s, _ := newTestStream(t, 4)
	publish(t, s, blockPayload)
	s.mu.Lock()
	answer := make(chan error)
	go func() {
		_, err := s.Claim(1, 1, 0, 8) // rolls, and waits for the lock
		answer <- err
	}()
	for turns := 0; turns < 1000; turns++ { // after it has found the block full
		runtime.Gosched()
		if s.current.Load().sealed.Load() == 0 {
			turns = 0
		}
	}
	s.closed.Store(true) // as Refuse, which has the lock, does
	s.mu.Unlock()
	if err := <-answer; err != ErrClosed {
		t.Errorf("%v, want ErrClosed", err)
	}
}

func TestClose(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	c := mustClaim(t, s, 8)
	if err := s.Close(); err == nil {
		t.Error("closed with a follower")
	}
	f.Close()
	if err := s.Close(); err == nil {
		t.Error("closed with an open claim")
	}
	c.Bytes()[7] = 1 // the memory is there
	if err := c.Commit(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Claim(1, 1, 0, 0); err != ErrClosed {
		t.Errorf("%v, want ErrClosed", err)
	}
	if _, err := s.Publish(1, 1, 0, nil); err != ErrClosed {
		t.Errorf("%v, want ErrClosed", err)
	}
}

func TestCloseWithAnExpiredClaim(t *testing.T) {
	s, clock := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	c := mustClaim(t, s, 8)
	s.Sweep(clock.advance(0))
	if n := s.Sweep(clock.advance(s.ClaimTimeout())); n != 1 {
		t.Fatalf("%d claims expired, want 1", n)
	}
	f.Close()
	if err := s.Close(); err == nil {
		t.Error("closed while the owner of an expired claim may be writing")
	}
	c.Bytes()[7] = 1 // the memory is there
	if err := c.Commit(); err != ErrClaimExpired {
		t.Errorf("%v, want ErrClaimExpired", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{BlockBytes: 2 << 10}, {BlockBytes: 2 << 20}, {BlockBytes: 5000}, {Blocks: 3},
		{Blocks: -1}, {ClaimTimeout: time.Microsecond}, {ClaimTimeout: 2 * time.Hour},
		{BlockBytes: 1 << 20, Blocks: 1 << 30},
	} {
		if s, err := NewStream(c); err == nil {
			t.Errorf("%+v is accepted", c)
			_ = s.Close()
		}
	}
	s, err := NewStream(Config{BlockBytes: 64 << 10, Blocks: 8})
	if err != nil {
		t.Fatal(err)
	}
	if s.BlockBytes() != 64<<10 || s.Blocks() != 8 || s.ClaimTimeout() != time.Second ||
		s.MaxPayload() != 64<<10-frame.HeaderBytes {
		t.Errorf("%+v", s.config)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
