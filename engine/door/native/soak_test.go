package native

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// soakTime is FANTAIL_SOAK, a duration; the test is skipped where there is none.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("FANTAIL_SOAK")
	if text == "" {
		t.Skip("FANTAIL_SOAK, a duration, is not set")
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("FANTAIL_SOAK: %v", err)
	}
	return d
}

// soakPolicies are the policies of readers that stay all the time.
var soakPolicies = []ring.Policy{waitPolicy, {Kind: ring.PolicyDropOldest},
	{Kind: ring.PolicyDropOldest, MaxLag: 100}, {Kind: ring.PolicyDropNewest, MaxLag: 500},
	{Kind: ring.PolicyWaitFor, For: 10 * time.Millisecond}, {Kind: ring.PolicyConflate}}

// Mixed policies, slow readers, peers that come and go, for as long as FANTAIL_SOAK says:
// every byte is checked, memory is flat, and in the end the books balance.
func TestSoak(t *testing.T) {
	d := soakTime(t)
	e, err := engine.New(engine.Config{StreamBytes: 4 << 20, BlockBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, e)
	l := listen(t, e, Config{Shards: 2, HeartbeatEvery: time.Second, MaxTopics: 64, MaxSubscriptions: 256})
	var readers []*reader
	for i, p := range append(soakPolicies, soakPolicies...) {
		r := startSoaker(t, l, p, d, i >= len(soakPolicies))
		readers = append(readers, r)
	}
	const sources = 4
	a := &tally{want: make(map[uint32]uint64)}
	stop := make(chan struct{})
	var publishers, attackers sync.WaitGroup
	seed := ringtest.Seed(t)
	for i := range uint32(sources) {
		s := startSource(t, l, fmt.Sprintf("soak.%d", i), i+1, 44, 2000)
		s.link.limit(d + linkTimeout)
		publishers.Go(func() { soakSource(t, a, s, stop) })
	}
	attackers.Go(func() {
		for round := int64(0); ; round++ {
			select {
			case <-stop:
				return
			default:
				churn(t, l, seed+round, 5)
			}
		}
	})
	<-time.After(d / 4) // warm
	early := residentBytes()
	<-time.After(d - d/4)
	late := residentBytes()
	close(stop)
	publishers.Wait()
	attackers.Wait()
	t.Logf("%d messages of %d sources; resident %d MB, then %d MB", a.total(), sources, early>>20, late>>20)
	if late > early+early/10+(16<<20) {
		t.Errorf("resident memory grew from %d to %d bytes", early, late)
	}
	settle(t, readers, a)
	balance(t, l, e, readers, a.total())
	for _, r := range readers {
		r.complete(t, a.want, r.policy.Kind != ring.PolicyWait)
	}
}

func startSoaker(t *testing.T, l *Listener, p ring.Policy, d time.Duration, slow bool) *reader {
	r, err := newReader(l.Addr().String(), "soak.>", p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	r.link.limit(d + linkTimeout)
	if slow {
		_ = r.link.nc.SetReadBuffer(64 << 10)
		r.slow = slowly(5 * time.Microsecond)
	}
	go r.run()
	return r
}

// soakSource publishes until stop is closed: bursts, and pauses in which everybody idles.
func soakSource(t *testing.T, a *tally, s *source, stop chan struct{}) {
	random := rand.New(rand.NewPCG(s.seed, 1))
	for running := true; running; {
		if err := s.publish(1 + random.IntN(500)); err != nil {
			t.Error(err)
			break
		}
		var pause <-chan time.Time
		if random.IntN(20) == 0 {
			pause = time.After(time.Duration(random.IntN(30)) * time.Millisecond)
		} else {
			done := make(chan time.Time)
			close(done)
			pause = done
		}
		select {
		case <-stop:
			running = false
		case <-pause:
		}
	}
	if err := s.sync(); err != nil {
		t.Error(err)
	}
	a.add(s.next.Publisher, s.next.Sequence)
}

// settle waits until every reader has its account.
func settle(t *testing.T, readers []*reader, a *tally) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, r := range readers {
		if err := r.await(ctx, a.total()); err != nil {
			t.Errorf("%v: %v", r.policy.Kind, err)
		}
	}
}

// O10: in the figures, too, published = delivered + dropped + queued, for every connection.
func balance(t *testing.T, l *Listener, e *engine.Engine, readers []*reader, published uint64) {
	t.Helper()
	s := l.Snapshot()
	if s.Published < published {
		t.Errorf("the door counts %d messages published, the sources %d", s.Published, published)
	}
	if tail := e.Snapshot().Stream.Tail; tail-1 != s.Published {
		t.Errorf("the stream has %d messages, the door published %d", tail-1, s.Published)
	}
	found := 0
	lost := make(map[ring.PolicyKind]int64) // as the door counts, less what readers were told
	for _, r := range readers {
		lost[r.policy.Kind] -= int64(r.history.Lost())
	}
	for _, shard := range s.Shards {
		for _, c := range shard.Conns {
			if c.Policy.Kind == ring.PolicyDefault {
				continue // a publisher
			}
			found++
			lost[c.Policy.Kind] += int64(c.Dropped)
			if c.Messages != published || c.Lag != 0 || c.LagBytes != 0 {
				t.Errorf("%v: %d messages queued of %d, lag %d messages, %d bytes", c.Policy.Kind,
					c.Messages, published, c.Lag, c.LagBytes)
			}
			if c.Dropped > c.Messages || c.Policy.Kind == ring.PolicyWait && c.Dropped > 0 {
				t.Errorf("%v: %d dropped of %d", c.Policy.Kind, c.Dropped, c.Messages)
			}
		}
	}
	for kind, n := range lost {
		if n != 0 {
			t.Errorf("%v: %d more lost in the figures than subscribers were told", kind, n)
		}
	}
	if found != len(readers) {
		t.Errorf("%d subscribers in the figures, want %d", found, len(readers))
	}
}
