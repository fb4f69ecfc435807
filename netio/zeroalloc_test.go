//go:build !race

package netio

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// Delivery allocates nothing for a message, whatever sends it.
func TestZeroAllocDelivery(t *testing.T) {
	for _, sender := range senders(t) {
		t.Run(sender, func(t *testing.T) {
			h := newHarness(t, sender, ring.Config{BlockBytes: 64 << 10, Blocks: 16})
			const size, subscribers = 200, 4
			var readers sync.WaitGroup
			var total atomic.Uint64 // bytes
			t.Cleanup(readers.Wait) // after the peers are closed
			for range subscribers {
				peer, _ := h.connect(ring.Policy{Kind: ring.PolicyWait})
				readers.Go(func() {
					b := make([]byte, 64<<10)
					for {
						n, err := peer.Read(b)
						total.Add(uint64(n))
						if err != nil {
							return
						}
					}
				})
			}
			payload := make([]byte, size)
			publish := func(n int) {
				want := total.Load() + uint64(n*subscribers*frame.Aligned(frame.HeaderBytes+size))
				for n > 0 {
					if _, err := h.stream.Publish(1, 1, 1, payload); err == nil {
						n--
					} else {
						runtime.Gosched()
					}
				}
				for deadline := time.Now().Add(10 * time.Second); total.Load() < want; runtime.Gosched() {
					if time.Now().After(deadline) {
						t.Fatalf("%d of %d bytes came", total.Load(), want)
					}
				}
			}
			publish(20_000) // rings and buffers reach their sizes
			const messages = 50_000
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			publish(messages)
			runtime.ReadMemStats(&after)
			if n := after.Mallocs - before.Mallocs; n > messages/500 {
				t.Errorf("%d allocations for %d messages to %d subscribers", n, messages, subscribers)
			}
		})
	}
}

// Receiving allocates nothing for what comes, either.
func TestZeroAllocReceive(t *testing.T) {
	for _, sender := range senders(t) {
		t.Run(sender, func(t *testing.T) {
			h := newHarness(t, sender, ring.Config{BlockBytes: 64 << 10, Blocks: 16})
			peer, s := h.connect(ring.Policy{})
			quiet := &quietSession{echoSession: s}
			swapped := make(chan struct{})
			if err := h.shard.Do(func() { s.c.session = quiet; close(swapped) }); err != nil {
				t.Fatal(err)
			}
			<-swapped
			b := make([]byte, 1000)
			send := func(n int) {
				want := quiet.bytes.Load() + uint64(n*len(b))
				for range n {
					if _, err := peer.Write(b); err != nil {
						t.Fatal(err)
					}
				}
				for deadline := time.Now().Add(10 * time.Second); quiet.bytes.Load() < want; runtime.Gosched() {
					if time.Now().After(deadline) {
						t.Fatalf("%d of %d bytes came", quiet.bytes.Load(), want)
					}
				}
			}
			send(2_000)
			const writes = 10_000
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			send(writes)
			runtime.ReadMemStats(&after)
			if n := after.Mallocs - before.Mallocs; n > writes/100 {
				t.Errorf("%d allocations for %d writes", n, writes)
			}
		})
	}
}

// quietSession takes everything but an odd piece at the end, and says nothing.
type quietSession struct {
	*echoSession
	bytes atomic.Uint64
	left  int
}

func (s *quietSession) Receive(b []byte) (int, error) {
	fresh := len(b) - s.left
	s.bytes.Add(uint64(fresh))
	s.left = len(b) % 24
	return len(b) - s.left, nil
}
