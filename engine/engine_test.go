package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring"
)

// small is an engine that is soon full: 16 blocks of 64 KiB.
func small(t testing.TB) *Engine {
	t.Helper()
	e, err := New(Config{StreamBytes: 1 << 20, BlockBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		_ = e.Close(ctx)
	})
	return e
}

func publisher(t testing.TB, e *Engine, topic string) *Publisher {
	t.Helper()
	p, err := e.Publisher(topic)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func subscribe(t testing.TB, e *Engine, pattern string, p Policy) *Subscription {
	t.Helper()
	s, err := e.Subscribe(pattern, SubscribeOptions{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func number(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// drain polls until nothing comes, and answers the numbers that came and the gaps.
func drain(t testing.TB, s *Subscription) (got []uint64, gaps []Gap) {
	t.Helper()
	for {
		n, err := s.Poll(1000, func(m *Message) {
			if m.IsGap() {
				gaps = append(gaps, m.Gap)
				return
			}
			got = append(got, binary.LittleEndian.Uint64(m.Payload))
		})
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return got, gaps
		}
	}
}

func TestPatternsSelectTopics(t *testing.T) {
	e := small(t)
	subs := map[string]*Subscription{}
	for _, pattern := range []string{"md.>", "md.*.AAPL", "md.eq.AAPL", "md.fx.*", ">"} {
		subs[pattern] = subscribe(t, e, pattern, Wait())
	}
	for i, topic := range []string{"md.eq.AAPL", "md.fx.EURUSD", "md.eq.MSFT", "news"} {
		if err := publisher(t, e, topic).Publish(number(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{"md.>": "[0 1 2]", "md.*.AAPL": "[0]",
		"md.eq.AAPL": "[0]", "md.fx.*": "[1]", ">": "[0 1 2 3]"} {
		got, gaps := drain(t, subs[pattern])
		if fmt.Sprint(got) != want || len(gaps) > 0 {
			t.Errorf("%s: %v, gaps %v; want %s", pattern, got, gaps, want)
		}
	}
}

func TestMessageSaysWhereItComesFrom(t *testing.T) {
	e := small(t)
	s := subscribe(t, e, "a.b", Wait())
	p := publisher(t, e, "a.b")
	before := e.Now()
	c, err := p.Claim(5)
	if err != nil {
		t.Fatal(err)
	}
	copy(c.Bytes(), "hello")
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := c.Commit(); err != ErrClaimClosed {
		t.Errorf("second Commit: %v", err)
	}
	n, err := s.Poll(10, func(m *Message) {
		if m.Topic() != "a.b" || string(m.Payload) != "hello" || m.Sequence != c.Sequence() ||
			m.Publisher != p.Number() || m.Time < before || m.Time > e.Now() || m.IsGap() {
			t.Errorf("message %+v", m)
		}
	})
	if n != 1 || err != nil {
		t.Errorf("Poll: %d, %v", n, err)
	}
}

func TestAbortedClaimIsNeverSeen(t *testing.T) {
	e := small(t)
	s := subscribe(t, e, ">", Wait())
	p := publisher(t, e, "a")
	c, _ := p.Claim(100)
	if err := c.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := p.Publish(number(7)); err != nil {
		t.Fatal(err)
	}
	if got, gaps := drain(t, s); fmt.Sprint(got) != "[7]" || gaps != nil {
		t.Errorf("%v, %v", got, gaps)
	}
}

// fillUp publishes until back pressure and answers how many went in.
func fillUp(t testing.TB, p *Publisher, most int) (n uint64) {
	t.Helper()
	payload := make([]byte, 1000)
	for int(n) < most {
		binary.LittleEndian.PutUint64(payload, n)
		switch err := p.Publish(payload); err {
		case nil:
			n++
		case ErrBackPressure:
			return n
		default:
			t.Fatal(err)
		}
	}
	return n
}

func TestWaitGatesThePublisherAndLosesNothing(t *testing.T) {
	e := small(t)
	s := subscribe(t, e, ">", Wait())
	p := publisher(t, e, "a")
	n := fillUp(t, p, 1<<20)
	if n == 1<<20 {
		t.Fatal("no back pressure")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.PublishContext(ctx, number(0)); !errors.Is(err, context.Canceled) {
		t.Errorf("PublishContext: %v", err)
	}
	got, gaps := drain(t, s)
	if uint64(len(got)) != n || gaps != nil || got[n-1] != n-1 {
		t.Errorf("%d of %d messages, gaps %v", len(got), n, gaps)
	}
	if err := p.Publish(number(n)); err != nil {
		t.Errorf("after draining: %v", err)
	}
}

func TestPublishContextWakesUp(t *testing.T) {
	e := small(t)
	s := subscribe(t, e, ">", Wait())
	p := publisher(t, e, "a")
	n := fillUp(t, p, 1<<20)
	done := make(chan error)
	go func() { done <- p.PublishContext(context.Background(), number(n)) }()
	got, _ := drain(t, s)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for uint64(len(got)) < n+1 {
		more, _ := drain(t, s)
		got = append(got, more...)
	}
}

// No policy but Wait and WaitFor may hold a publisher back.
func TestSlowConsumerDelaysNobody(t *testing.T) {
	for _, policy := range []Policy{DropOldest(0), DropOldest(100), DropNewest(100), Conflate(),
		Disconnect(0), Disconnect(100)} {
		t.Run(policy.Kind.String(), func(t *testing.T) {
			e := small(t)
			slow := subscribe(t, e, ">", policy)
			quick := subscribe(t, e, ">", Wait())
			p := publisher(t, e, "a")
			payload := make([]byte, 1000)
			const messages = 5000 // five times what the stream holds
			for n := range uint64(messages) {
				binary.LittleEndian.PutUint64(payload, n)
				for {
					err := p.Publish(payload)
					if err == nil {
						break
					}
					// The dispatcher follows at its own pace; it is never slow for long.
					if err != ErrBackPressure || policy.Kind == ring.PolicyDropOldest {
						t.Fatal(err)
					}
				}
				if got, gaps := drain(t, quick); len(got) != 1 || gaps != nil {
					t.Fatalf("the quick one: %v, %v", got, gaps)
				}
			}
			if d := e.mu.dispatcher; d != nil { // what it still holds back is not dropped yet
				for d.follower.Cursor() < e.stream.Tail() {
					runtime.Gosched()
				}
			}
			checkSlow(t, e, slow, policy, messages)
		})
	}
}

// checkSlow says whether a subscriber that slept through all messages gets what its policy
// promises, and hears of everything else.
func checkSlow(t *testing.T, e *Engine, s *Subscription, policy Policy, messages uint64) {
	t.Helper()
	if policy.Kind == ring.PolicyDisconnect {
		if n, err := s.Poll(1, func(*Message) {}); n != 0 || !errors.Is(err, ErrSlowConsumer) {
			t.Errorf("Poll: %d, %v", n, err)
		}
		return
	}
	var got []uint64
	var lost uint64
	for uint64(len(got))+lost < messages {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_, err := s.PollContext(ctx, 1000, func(m *Message) {
			if m.IsGap() {
				lost += m.Gap.Count
				return
			}
			got = append(got, binary.LittleEndian.Uint64(m.Payload))
		})
		cancel()
		if err != nil {
			t.Fatalf("%d messages, %d lost, of %d: %v", len(got), lost, messages, err)
		}
	}
	if uint64(len(got))+lost != messages {
		t.Errorf("%d messages, %d lost, of %d", len(got), lost, messages)
	}
	last := got[len(got)-1]
	switch policy.Kind {
	case ring.PolicyDropOldest, ring.PolicyConflate:
		if last != messages-1 {
			t.Errorf("the newest message is %d, want %d", last, messages-1)
		}
	case ring.PolicyDropNewest:
		if got[0] != 0 || len(got) != int(policy.MaxLag) {
			t.Errorf("starts with %d, %d messages", got[0], len(got))
		}
	}
	if policy.MaxLag > 0 && policy.Kind == ring.PolicyDropOldest && len(got) != int(policy.MaxLag) {
		t.Errorf("%d messages kept, want %d", len(got), policy.MaxLag)
	}
	if d := e.Snapshot().Subscriptions; len(d) != 2 {
		t.Errorf("%d subscriptions in the snapshot", len(d))
	}
}

func TestWaitForGivesUp(t *testing.T) {
	e := small(t)
	s := subscribe(t, e, ">", WaitFor(20*time.Millisecond))
	p := publisher(t, e, "a")
	n := fillUp(t, p, 1<<20)
	if n == 1<<20 {
		t.Fatal("no back pressure")
	}
	start := time.Now()
	if err := p.PublishContext(context.Background(), number(n)); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(start); waited < 15*time.Millisecond {
		t.Errorf("gave up after %v", waited)
	}
	got, gaps := drain(t, s)
	if len(gaps) != 1 || uint64(len(got))+gaps[0].Count != n+1 {
		t.Errorf("%d messages, gaps %v, of %d", len(got), gaps, n+1)
	}
}

func TestSpillIsNotSupportedYet(t *testing.T) {
	if _, err := small(t).Subscribe(">", SubscribeOptions{Policy: Spill()}); !errors.Is(err, ErrNotSupported) {
		t.Errorf("Subscribe: %v", err)
	}
}

func TestConflateKeepsTheNewestOfEachTopic(t *testing.T) {
	e := small(t)
	s := subscribe(t, e, ">", Conflate())
	quick := subscribe(t, e, ">", Wait())
	var pubs []*Publisher
	for i := range 10 {
		pubs = append(pubs, publisher(t, e, fmt.Sprintf("t.%d", i)))
	}
	for n := range uint64(20_000) {
		for pubs[n%10].Publish(number(n)) != nil {
		}
		drain(t, quick)
	}
	latest := map[string]uint64{}
	var came, lost uint64
	for came+lost < 20_000 {
		_, err := s.PollContext(context.Background(), 100, func(m *Message) {
			if m.IsGap() {
				lost += m.Gap.Count
				return
			}
			came++
			if v := binary.LittleEndian.Uint64(m.Payload); v >= latest[m.Topic()] {
				latest[m.Topic()] = v
			} else {
				t.Errorf("%s went back to %d", m.Topic(), v)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint64(10) {
		if v := latest[fmt.Sprintf("t.%d", i)]; v != 19_990+i {
			t.Errorf("t.%d: %d", i, v)
		}
	}
}

func TestCloseSaysWhatWasNotDelivered(t *testing.T) {
	e := small(t)
	subscribe(t, e, ">", Wait())
	p := publisher(t, e, "a")
	for n := range uint64(3) {
		if err := p.Publish(number(n)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	var left *UndeliveredError
	if err := e.Close(ctx); !errors.As(err, &left) || left.Messages != 3 || left.Subscriptions != 1 ||
		!errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v", err)
	}
	if err := p.Publish(nil); err != ErrClosed {
		t.Errorf("Publish after Close: %v", err)
	}
	if _, err := e.Subscribe(">", SubscribeOptions{}); err != ErrClosed {
		t.Errorf("Subscribe after Close: %v", err)
	}
	if err := e.Close(ctx); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestMessagesEndsWithTheContext(t *testing.T) {
	e := small(t)
	s := subscribe(t, e, ">", Wait())
	p := publisher(t, e, "a")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for n := range uint64(100) {
			_ = p.Publish(number(n))
		}
	}()
	next := uint64(0)
	for m, err := range s.Messages(ctx) {
		if err != nil {
			if !errors.Is(err, context.Canceled) || next != 100 {
				t.Errorf("after %d: %v", next, err)
			}
			break
		}
		if !bytes.Equal(m.Payload, number(next)) {
			t.Fatalf("message %d: %x", next, m.Payload)
		}
		if next++; next == 100 {
			cancel()
		}
	}
}

func TestCloseEndsAWaitingPoll(t *testing.T) {
	for _, policy := range []Policy{Wait(), Conflate()} {
		e := small(t)
		s := subscribe(t, e, ">", policy)
		done := make(chan error)
		go func() {
			_, err := s.PollContext(context.Background(), 1, func(*Message) {})
			done <- err
		}()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != ErrClosed {
			t.Errorf("%v: PollContext: %v", policy.Kind, err)
		}
	}
}

// Many goroutines publish and poll at once; -race looks on.
func TestStressManyPublishersManySubscribers(t *testing.T) {
	e := small(t)
	const publishers, each = 4, 5000
	var wg sync.WaitGroup
	for range 3 {
		s := subscribe(t, e, "p.*", Wait())
		wg.Go(func() {
			next := map[uint32]uint64{}
			for total := 0; total < publishers*each; {
				n, err := s.PollContext(context.Background(), 64, func(m *Message) {
					if v := binary.LittleEndian.Uint64(m.Payload); v != next[m.Publisher] {
						t.Errorf("publisher %d: %d, want %d", m.Publisher, v, next[m.Publisher])
					}
					next[m.Publisher]++
				})
				if err != nil {
					t.Error(err)
					return
				}
				total += n
			}
		})
	}
	for i := range publishers {
		p := publisher(t, e, fmt.Sprintf("p.%d", i))
		wg.Go(func() {
			for n := range uint64(each) {
				if err := p.PublishContext(context.Background(), number(n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
