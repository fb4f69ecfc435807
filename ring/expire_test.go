package ring

import (
	"testing"
	"time"
)

// A publisher that dies between Claim and Commit stops its stream for ClaimTimeout, and no
// longer; its block is not written by anybody else before it has answered, and is then.
func TestPublisherDiesHoldingClaim(t *testing.T) {
	for name, o := range map[string]FollowOptions{
		"gating": {}, "lossy": {Lossy: true}, "patient": {Patience: time.Hour},
		"held": {Held: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, clock := newTestStream(t, 4)
			f := s.Follow(o)
			defer f.Close()
			publish(t, s, 8)
			dead := mustClaim(t, s, 8)
			fill(dead.Bytes(), 99)
			publish(t, s, 8)
			_, got := poll(t, f)
			wantRun(t, got, 1, 1)

			sleeper := s.Readers().NewSleeper()
			defer sleeper.Close()
			sleeper.Arm()
			s.Sweep(clock.advance(0))
			if n := s.Sweep(clock.advance(s.ClaimTimeout() - 1)); n != 0 {
				t.Fatalf("%d claims expired early", n)
			}
			if n := s.Sweep(clock.advance(1)); n != 1 || s.Stats().Expired != 1 {
				t.Fatalf("%d claims expired, %+v", n, s.Stats())
			}
			select {
			case <-sleeper.C():
			default:
				t.Error("followers are not told")
			}
			_, got = poll(t, f)
			wantRun(t, got, 3, 3)

			block, last := dead.block, uint64(3)
			for range 40 {
				last = publish(t, s, blockPayload)
				if s.current.Load() == block {
					t.Fatal("its block is used again")
				}
				_, got = poll(t, f)
				wantRun(t, got, last, last)
				f.Hold(f.Number())
			}
			checkFill(t, dead.Bytes(), 99)
			if got := s.Stats(); got.SetAside != 1 {
				t.Errorf("%+v", got)
			}

			waiter := s.Space().NewSleeper()
			defer waiter.Close()
			waiter.Arm()
			if err := dead.Commit(); err != ErrClaimExpired {
				t.Errorf("%v, want ErrClaimExpired", err)
			}
			select {
			case <-waiter.C():
			default:
				t.Error("nobody is told that the block can be had")
			}
			if err := dead.Commit(); err != ErrClaimClosed {
				t.Errorf("%v, want ErrClaimClosed", err)
			}
			used := false
			for range 4 {
				last = publish(t, s, blockPayload)
				used = used || s.current.Load() == block
				_, got = poll(t, f)
				wantRun(t, got, last, last)
				f.Hold(f.Number())
			}
			if got := s.Stats(); !used || got.SetAside != 0 {
				t.Errorf("used again: %v; %+v", used, got)
			}
		})
	}
}

// Nobody waits for the dead publisher's claim: it keeps its block for ClaimTimeout, and
// then until it answers.
func TestPublisherDiesUnfollowed(t *testing.T) {
	s, clock := newTestStream(t, 4)
	dead := mustClaim(t, s, 8)
	for range 10 {
		publish(t, s, blockPayload)
	}
	if got := s.Stats(); got.SetAside != 1 {
		t.Fatalf("%+v", got)
	}
	if n := s.Sweep(clock.advance(s.ClaimTimeout() - 1)); n != 0 {
		t.Fatalf("%d claims expired early", n)
	}
	if n := s.Sweep(clock.advance(1)); n != 1 {
		t.Fatalf("%d claims expired", n)
	}
	if err := dead.Abort(); err != ErrClaimExpired {
		t.Errorf("%v, want ErrClaimExpired", err)
	}
	waiter := s.Space().NewSleeper()
	defer waiter.Close()
	waiter.Arm()
	s.Sweep(clock.advance(0))
	if got := s.Stats(); got.SetAside != 0 {
		t.Errorf("%+v", got)
	}
	select {
	case <-waiter.C():
	default:
		t.Error("nobody is told that the block can be had")
	}
}

// Sweep expires what is old, not what came later and has stood behind it.
func TestSweepSparesYoungClaims(t *testing.T) {
	s, clock := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	old := mustClaim(t, s, 8)
	s.Sweep(clock.advance(0))
	young := mustClaim(t, s, 8)
	fill(young.Bytes(), 2)
	if n := s.Sweep(clock.advance(s.ClaimTimeout())); n != 1 {
		t.Fatalf("%d claims expired, want 1", n)
	}
	if err := young.Commit(); err != nil {
		t.Error(err)
	}
	if err := old.Commit(); err != ErrClaimExpired {
		t.Error(err)
	}
	_, got := poll(t, f)
	wantRun(t, got, 2, 2)
}

// A slow follower, behind committed messages, expires nobody's claim.
func TestSweepSparesClaimsThatNobodyWaitsFor(t *testing.T) {
	s, clock := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	publish(t, s, 8)
	c := mustClaim(t, s, 8)
	fill(c.Bytes(), 2)
	for range 10 {
		if n := s.Sweep(clock.advance(s.ClaimTimeout())); n != 0 {
			t.Fatalf("%d claims expired", n)
		}
	}
	if err := c.Commit(); err != nil {
		t.Error(err)
	}
	_, got := poll(t, f)
	wantRun(t, got, 1, 2)
}

// Claims that are never answered cost a block each, and the stream says how many.
func TestLeakedClaimsAreCounted(t *testing.T) {
	s, clock := newTestStream(t, 8)
	var leaked []Claim
	for range 4 {
		leaked = append(leaked, mustClaim(t, s, blockPayload))
	}
	for range 20 {
		publish(t, s, blockPayload)
	}
	s.Sweep(clock.advance(s.ClaimTimeout()))
	if got := s.Stats(); got.SetAside != 4 || got.Expired != 4 || got.BackPressure != 0 {
		t.Errorf("%+v", got)
	}
	for i := range leaked {
		if err := leaked[i].Commit(); err != ErrClaimExpired {
			t.Error(err)
		}
	}
}
