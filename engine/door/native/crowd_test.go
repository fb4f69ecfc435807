package native

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// full answers whole, or part in short mode.
func full(whole, part int) int {
	if testing.Short() || raceEnabled {
		return part
	}
	return whole
}

// base is what a process has before an attack.
type base struct {
	t          testing.TB
	heap       uint64
	goroutines int
	files      int
}

func takeBase(t testing.TB) base {
	return base{t: t, heap: heap(), goroutines: runtime.NumGoroutine(), files: openFiles()}
}

func heap() uint64 {
	debug.FreeOSMemory() // two collections, so that pools are empty too
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// restored waits until goroutines, descriptors and memory are back, but for budget bytes.
func (b base) restored(budget uint64) {
	b.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		now := takeBase(b.t)
		if now.goroutines <= b.goroutines && now.files <= b.files && now.heap <= b.heap+budget {
			b.t.Logf("heap %d kB more than before", (int64(now.heap)-int64(b.heap))/1024)
			return
		}
		if time.Now().After(deadline) {
			b.t.Errorf("goroutines %d, were %d; files %d, were %d; heap %d, was %d, budget %d more",
				now.goroutines, b.goroutines, now.files, b.files, now.heap, b.heap, budget)
			return
		}
		runtime.Gosched()
	}
}

// F26: a storm of subscribers, and each gets everything.
func TestThousandConnections(t *testing.T) {
	l := listen(t, testEngine(t), Config{})
	before := takeBase(t)
	subscribers, messages := full(1_000, 150), 200
	readers := make([]*reader, subscribers)
	var storm sync.WaitGroup
	for from := range 16 {
		storm.Go(func() {
			for i := from; i < subscribers; i += 16 {
				r, err := newReader(l.Addr().String(), "crowd.>", waitPolicy)
				if err != nil {
					t.Error(err)
					return
				}
				readers[i] = r
				go r.run()
			}
		})
	}
	storm.Wait()
	if t.Failed() {
		return
	}
	s := startSource(t, l, "crowd.all", 1, 100, 300)
	if err := s.publish(messages); err != nil {
		t.Fatal(err)
	}
	for _, r := range readers {
		r.complete(t, map[uint32]uint64{1: uint64(messages)}, false)
	}
	s.link.nc.Close()
	openConnections(t, l, 0)
	readers = nil
	before.restored(8 << 20)
}

// A07, A22, A23: peers come, subscribe, declare topics up to their limits and go, in the
// middle of whatever they are doing, while an innocent pair works.
func TestChurnUnderLoad(t *testing.T) {
	e, err := engine.New(engine.Config{StreamBytes: 4 << 20, BlockBytes: 64 << 10, MaxTopics: 4096})
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, e)
	l := listen(t, e, Config{MaxTopics: 64, MaxSubscriptions: 256})
	innocents := []*pair{startPair(t, l, 1), startPair(t, l, 2)}
	seed := ringtest.Seed(t)
	// The first round reaches the high-water marks of tables that keep their memory.
	churn(t, l, seed, full(20, 5))
	openConnections(t, l, 4)
	before := takeBase(t)
	churn(t, l, seed+1, full(80, 10))
	openConnections(t, l, 4)
	before.restored(4 << 20)
	for _, p := range innocents {
		if n := p.finish(); n == 0 {
			t.Error("the innocents published nothing")
		}
	}
	rejected := l.Snapshot().Rejected
	for _, code := range []native.Code{native.CodeTooManyTopics, native.CodeTooManySubscriptions} {
		if rejected[code.String()] == 0 {
			t.Errorf("nobody was rejected for %v: %v", code, rejected)
		}
	}
}

func churn(t *testing.T, l *Listener, seed int64, rounds int) {
	var done sync.WaitGroup
	for worker := range 4 {
		done.Go(func() {
			random := rand.New(rand.NewPCG(uint64(seed), uint64(worker)))
			for round := range rounds {
				k, err := dialLink(l.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				_ = k.write(churnBytes(random, worker, round))
				for left := random.IntN(50); left > 0; left-- {
					if h, _, err := k.read(); err != nil || h.Kind == frame.Heartbeat {
						break
					}
				}
				if random.IntN(2) == 0 {
					_ = k.nc.SetLinger(0)
				}
				k.nc.Close()
			}
		})
	}
	done.Wait()
}

// churnBytes is what one peer of a churn says: a bomb of subscriptions, or of topics with a
// message on each, or an ordinary firehose.
func churnBytes(random *rand.Rand, worker, round int) (b []byte) {
	subscribe := func(pattern string) {
		b = native.AppendSubscribe(b, &native.Subscribe{Request: 1, Pattern: []byte(pattern),
			Policy: ring.Policy{Kind: ring.PolicyDropOldest}})
	}
	switch random.IntN(3) {
	case 0:
		for i := range 200 + random.IntN(100) {
			subscribe([]string{"*.*.*.*.>", ">", "*.>", "innocent.*"}[i%4])
			subscribe(fmt.Sprintf("*.%d.*.%d.>", i, i%7))
		}
	case 1:
		for i := range 1 + random.IntN(80) {
			name := fmt.Sprintf("churn.%d.%d", worker, i) // the engine never forgets a topic
			b = native.AppendTopic(b, &native.Topic{ID: uint32(i + 1), Name: []byte(name)})
			b = native.AppendPublish(b, &native.Publish{Alias: uint32(i + 1), Payload: []byte("x")})
		}
	default:
		subscribe(">")
	}
	return native.AppendHeartbeat(b, native.Heartbeat{Sequence: uint64(round + 1)})
}

// A29: a subscriber of everything that never reads. Memory stays flat, the counters say how
// far it is behind and what it lost, and nobody else notices.
func TestFirehoseThatNeverReads(t *testing.T) {
	for _, policy := range []ring.Policy{{Kind: ring.PolicyDropOldest},
		{Kind: ring.PolicyDropNewest, MaxLag: 1000}, {Kind: ring.PolicyConflate}} {
		t.Run(policy.Kind.String(), func(t *testing.T) {
			l := listen(t, testEngine(t), Config{})
			r := startReader(t, l, "hose", waitPolicy)
			s := startSource(t, l, "hose", 1, 1000, 16)
			p := dial(t, l)
			p.subscribe(">", policy)
			const round = 10_000 // 10 MB
			if err := s.publish(round); err != nil {
				t.Fatal(err)
			}
			before := takeBase(t)
			more := full(5, 1)
			if err := s.publish(more * round); err != nil {
				t.Fatal(err)
			}
			r.complete(t, map[uint32]uint64{1: uint64(more+1) * round}, false)
			before.restored(2 << 20)
			var found bool
			for _, c := range l.Snapshot().Shards[0].Conns {
				if c.Policy.Kind != policy.Kind {
					continue
				}
				found = true
				queues := policy.Kind != ring.PolicyConflate // which has one message at most
				if c.Dropped == 0 || queues && (c.Lag == 0 || c.LagBytes == 0 || c.Stalls == 0) {
					t.Errorf("dropped %d, lag %d messages, %d bytes, stalls %d", c.Dropped, c.Lag, c.LagBytes, c.Stalls)
				}
			}
			if !found {
				t.Error("the firehose is in no snapshot")
			}
		})
	}
}

// While a peer that was cut for being slow is still told so, nothing else is said to it.
func TestErrorIsTheLastFrame(t *testing.T) {
	l := listen(t, testEngine(t), Config{})
	r, err := newReader(l.Addr().String(), "last.>", ring.Policy{Kind: ring.PolicyDisconnect, MaxLag: 2000})
	if err != nil {
		t.Fatal(err)
	}
	defer r.link.nc.Close()
	s := startSource(t, l, "last.one", 1, 1000, 16)
	var wave int
	for ; l.Snapshot().Rejected[native.CodeSlowConsumer.String()] == 0; wave++ {
		if err := s.publish(1000); err != nil {
			t.Fatal(err)
		}
	}
	// Topics that it has not heard of: they would be named before their first message.
	for i := range uint32(20) {
		b := native.AppendTopic(nil, &native.Topic{ID: i + 2, Name: fmt.Appendf(nil, "last.new.%d", i)})
		s.batch = native.AppendPublish(b, &native.Publish{Alias: i + 2, Payload: []byte("x")})
		if err := s.link.write(s.batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.sync(); err != nil {
		t.Fatal(err)
	}
	go r.run()
	<-r.done
	if r.code != native.CodeSlowConsumer || r.err != nil {
		t.Errorf("after %d waves: ERROR %v, %v", wave, r.code, r.err)
	}
}
