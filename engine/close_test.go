package engine

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// view polls one message, and calls during while fn still has it; the message must stay as
// it is.
func view(t *testing.T, s *Subscription, want []byte, during func()) {
	t.Helper()
	n, err := s.Poll(1, func(m *Message) {
		during()
		if !bytes.Equal(m.Payload, want) {
			t.Error("the message has changed while its subscriber was looking at it")
		}
	})
	if n != 1 || err != nil {
		t.Errorf("Poll = %d, %v", n, err)
	}
}

// Invariant 4: whoever closes a subscription from another goroutine does not take the message
// away from under the one that is reading it.
func TestCloseLeavesTheMessageToItsReader(t *testing.T) {
	for _, policy := range []Policy{Wait(), WaitFor(time.Second), DropOldest(0)} {
		t.Run(policy.Kind.String(), func(t *testing.T) {
			e := small(t)
			p, s := publisher(t, e, "a"), subscribe(t, e, "a", policy)
			want := bytes.Repeat([]byte{'x'}, 1000)
			if err := p.Publish(want); err != nil {
				t.Fatal(err)
			}
			view(t, s, want, func() {
				s.Close()
				other := bytes.Repeat([]byte{'y'}, 1000)
				for range 2 * e.config.StreamBytes / len(other) {
					if err := p.Publish(other); err != nil && err != ErrBackPressure {
						t.Fatal(err)
					}
				}
			})
			if n := e.Snapshot().Stream.Followers; n != 0 {
				t.Errorf("%d followers are left", n)
			}
		})
	}
}

// Invariant 10: an engine that is closed while a subscriber is in the middle of a message
// waits for it, and keeps its memory rather than end the process.
func TestCloseOfAnEngineInUse(t *testing.T) {
	e, err := New(Config{StreamBytes: 4 * minBlockBytes, BlockBytes: minBlockBytes})
	if err != nil {
		t.Fatal(err)
	}
	p, s := publisher(t, e, "a"), subscribe(t, e, "a", Wait())
	want := []byte("still here")
	if err := p.Publish(want); err != nil {
		t.Fatal(err)
	}
	view(t, s, want, func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := e.Close(ctx); err == nil {
			t.Error("Close says that nothing was in use")
		}
	})
	if err := e.stream.Close(); err != nil {
		t.Error(err)
	}
}

// Publishers and subscribers that do not know of it, on all policies, while the engine is
// closed: they are told ErrClosed, and no memory is left behind.
func TestStressCloseWhileInUse(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		e, err := New(Config{StreamBytes: 4 * minBlockBytes, BlockBytes: minBlockBytes})
		if err != nil {
			t.Fatal(err)
		}
		var users sync.WaitGroup
		var published atomic.Int64
		for range 2 {
			p := publisher(t, e, "a")
			users.Go(func() {
				defer p.Close()
				for {
					if err := p.PublishContext(t.Context(), make([]byte, 100)); err != nil {
						if err != ErrClosed {
							t.Errorf("PublishContext = %v", err)
						}
						return
					}
					published.Add(1)
				}
			})
		}
		policies := []Policy{Wait(), WaitFor(time.Millisecond), DropOldest(10), Conflate()}
		read := make(chan struct{}, len(policies))
		for _, policy := range policies {
			s := subscribe(t, e, "a", policy)
			users.Go(func() {
				for first := true; ; first = false {
					_, err := s.PollContext(t.Context(), 10, func(*Message) {})
					if first {
						read <- struct{}{}
					}
					if err != nil {
						if err != ErrClosed {
							t.Errorf("PollContext = %v", err)
						}
						return
					}
				}
			})
		}
		for range policies {
			<-read
		}
		if err := e.Close(t.Context()); err != nil {
			t.Errorf("Close = %v after %d messages", err, published.Load())
		}
		users.Wait()
	}
}

// A subscription that has slept leaves nothing behind: those who wake would look at it for
// ever.
func TestClosedSubscriptionsLeaveNoBells(t *testing.T) {
	e := small(t)
	woken := 0
	for range 10 {
		s := subscribe(t, e, "a", DropOldest(0))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := s.PollContext(ctx, 1, func(*Message) {}); err == nil {
			t.Fatal("a message from nowhere")
		}
		cancel()
		s.Close()
		if s.sleeper == nil {
			continue
		}
		s.sleeper.Arm()
		e.stream.Readers().Wake()
		select {
		case <-s.sleeper.C():
			woken++
		default:
		}
	}
	if woken > 0 {
		t.Errorf("%d of 10 closed subscriptions are still woken", woken)
	}
}
