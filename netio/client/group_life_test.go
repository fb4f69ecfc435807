package client

import (
	"context"
	"sync"
	"testing"

	"github.com/fantail-io/fantail/ring/wait"
)

// Members come and go, and are closed, while the group is polled, and from its function.
func TestGroupChangesWhilePolled(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		c := dialTest(t, serve(t, control, sending(data(1, "x"))), fast())
		seen := make(chan *Subscription, 100)
		ctx, cancel := context.WithCancel(patient(t))
		var polling sync.WaitGroup
		polling.Go(func() {
			for {
				_, err := g.Poll(ctx, func(s *Subscription, m *Message) {
					seen <- s
					if s.Pattern() == "self" {
						s.Close()
					}
				})
				if err != nil {
					if err != context.Canceled {
						t.Error(err)
					}
					return
				}
			}
		})
		for _, pattern := range []string{"a", "self", "b", "self", "c"} {
			s := addTest(t, g, subscribeTest(t, c, pattern))
			if got := <-seen; got != s {
				t.Errorf("a message of %s where %s is new", got.Pattern(), pattern)
			}
			if pattern == "b" {
				s.Close()
			}
		}
		cancel()
		polling.Wait()
	})
}

func TestGroupClose(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		c := dialTest(t, serve(t, control, sending(data(1, "x"))), fast())
		s := addTest(t, g, subscribeTest(t, c, ">"))
		if err := g.Add(s); err != ErrGrouped {
			t.Errorf("added twice: %v", err)
		}
		if _, err := s.Poll(1, nil); err != ErrGrouped {
			t.Errorf("polled beside the group: %v", err)
		}
		gather(t, g, map[*Subscription]int{s: 1})
		done := make(chan error)
		go func() {
			_, err := g.Poll(context.Background(), nil)
			done <- err
		}()
		g.Close()
		g.Close()
		if err := <-done; err != ErrClosed {
			t.Errorf("%v", err)
		}
		if _, err := s.Poll(1, nil); err != ErrClosed {
			t.Errorf("%v", err)
		}
		other := subscribeTest(t, c, ">")
		if err := g.Add(other); err != ErrClosed {
			t.Errorf("%v", err)
		}
		collect(t, other, 1) // it is as it was
		other.Close()
		if err := g.Add(other); err != ErrClosed {
			t.Errorf("%v", err)
		}
		if _, err := g.Poll(patient(t), nil); err != ErrClosed {
			t.Errorf("%v", err)
		}
	})
}

// A group that is never polled gives everything back too.
func TestGroupNeverPolled(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		c := dialTest(t, serve(t, control, sending(data(1, "x"))), fast())
		addTest(t, g, subscribeTest(t, c, ">")).Close()
		addTest(t, g, subscribeTest(t, c, ">"))
		c.Close()
	})
}

func TestGroupConfig(t *testing.T) {
	for _, n := range []int{-1, 1, 1 << 30} {
		if _, err := NewGroup(GroupConfig{ReadBytes: n}); err == nil {
			t.Errorf("ReadBytes %d", n)
		}
	}
	for _, w := range []wait.Strategy{wait.Adaptive, wait.Busy, wait.Yield, wait.Park} {
		g, err := NewGroup(GroupConfig{Wait: w})
		if err != nil {
			t.Fatal(err)
		}
		c := dialTest(t, serve(t, control, sending(data(1, "x"))), Config{})
		s := addTest(t, g, subscribeTest(t, c, ">"))
		gather(t, g, map[*Subscription]int{s: 1})
		g.Close()
	}
}
