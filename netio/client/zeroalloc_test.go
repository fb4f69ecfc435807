//go:build !race

package client

import (
	"slices"
	"testing"

	"github.com/fantail-io/fantail/ring/frame"
)

// allocations answers how many allocations a call of f makes, in all goroutines, once the
// first calls have taken what they keep.
func allocations(f func()) float64 {
	for range 100 {
		f()
	}
	return testing.AllocsPerRun(200, f)
}

// discard is the script of a publishing connection that only reads, and echoes.
func discard(p *peer) {
	p.welcome(streamID)
	p.in = make([]byte, 0, 1<<20)
	buf := make([]byte, 1<<20)
	n := 0
	for {
		k, err := p.conn.Read(buf[n:])
		if err != nil {
			return
		}
		n += k
		used := 0
		for {
			h, _, size, err := frame.Parse(buf[used:n], frame.MaxBytes)
			if err != nil {
				break
			}
			if h.Kind == frame.Heartbeat {
				p.echo(h)
			}
			used += size
		}
		n = copy(buf, buf[used:n])
	}
}

func TestZeroAllocPublish(t *testing.T) {
	c := dialTest(t, serve(t, discard), Config{})
	p := publisherTest(t, c, "a")
	payload := make([]byte, 500)
	ctx := patient(t)
	n := allocations(func() {
		for range 1000 {
			if err := p.PublishContext(ctx, payload); err != nil {
				t.Fatal(err)
			}
		}
	})
	// An echo's frame is the test server's, one for each confirmEvery messages.
	if n > 20 {
		t.Errorf("%v allocations for 1000 messages", n)
	}
}

// flood is the script of a subscription that gets messages without end.
func flood(p *peer) {
	p.subscribed(streamID, 1)
	message := data(1, string(make([]byte, 500)))
	chunk := slices.Repeat(message, 64<<10/len(message))
	for p.send(chunk) {
	}
}

func TestZeroAllocPoll(t *testing.T) {
	c := dialTest(t, serve(t, control, flood), Config{})
	s := subscribeTest(t, c, ">")
	ctx, sum := patient(t), uint64(0)
	fn := func(m *Message) { sum += m.Sequence }
	for name, poll := range map[string]func() (int, error){
		"Poll":        func() (int, error) { return s.Poll(1000, fn) },
		"PollContext": func() (int, error) { return s.PollContext(ctx, 1000, fn) },
	} {
		n := allocations(func() {
			if _, err := poll(); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	s.Close()
}

func TestZeroAllocGroup(t *testing.T) {
	c := dialTest(t, serve(t, control, flood), Config{})
	g, err := NewGroup(GroupConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for range 4 {
		addTest(t, g, subscribeTest(t, c, ">"))
	}
	ctx, sum := patient(t), uint64(0)
	fn := func(s *Subscription, m *Message) { sum += m.Sequence }
	n := allocations(func() {
		if _, err := g.Poll(ctx, fn); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
