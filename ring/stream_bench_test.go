package ring

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// newBenchStream is a stream as an engine has it.
func newBenchStream(b *testing.B) *Stream {
	b.Helper()
	s, err := NewStream(Config{BlockBytes: 256 << 10, Blocks: 64})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func claimAndCommit(b *testing.B, s *Stream, payload []byte) {
	c, err := s.Claim(1, 1, 1, len(payload))
	if err != nil {
		b.Error(err)
		return
	}
	copy(c.Bytes(), payload)
	if err := c.Commit(); err != nil {
		b.Error(err)
	}
}

// BenchmarkClaimCommit is claim + 64 bytes + commit, by publishers at once; ns/op is the
// time between two messages of the stream.
func BenchmarkClaimCommit(b *testing.B) {
	payload := make([]byte, 64)
	for _, publishers := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("publishers=%d", publishers), func(b *testing.B) {
			s := newBenchStream(b)
			if publishers == 1 {
				for b.Loop() {
					claimAndCommit(b, s, payload)
				}
				return
			}
			b.ResetTimer()
			var all sync.WaitGroup
			for range publishers {
				all.Go(func() {
					for range b.N / publishers {
						claimAndCommit(b, s, payload)
					}
				})
			}
			all.Wait()
		})
	}
	b.Run("subs=64", func(b *testing.B) { // that have caught up
		benchmarkPublish(b, 64, FollowOptions{Lossy: true}, func(s *Stream) {
			claimAndCommit(b, s, payload)
		})
	})
	b.Run("lapped=64", func(b *testing.B) { // that never read: the stream cannot stay in the cache
		s := newBenchStream(b)
		for range 64 {
			defer s.Follow(FollowOptions{Lossy: true}).Close()
		}
		for b.Loop() {
			claimAndCommit(b, s, payload)
		}
	})
}

// BenchmarkPublish is a publish: claim, copy, commit. subs are followers that have caught
// up: they pass what was published, every 5,000 messages, while the clock stands still. So
// the figure is what followers cost the publisher, and only that.
func BenchmarkPublish(b *testing.B) {
	kinds := []struct {
		name string
		o    FollowOptions
	}{{"lossy", FollowOptions{Lossy: true}}, {"gating", FollowOptions{}}}
	for _, size := range []int{20, 500} {
		for _, kind := range kinds {
			for _, subs := range []int{0, 1, 64, 1000} {
				if subs == 0 && kind.o.Lossy {
					continue
				}
				b.Run(fmt.Sprintf("size=%d/%s/subs=%d", size, kind.name, subs), func(b *testing.B) {
					payload := make([]byte, size)
					benchmarkPublish(b, subs, kind.o, func(s *Stream) {
						if _, err := s.Publish(1, 1, 1, payload); err != nil {
							b.Fatal(err)
						}
					})
				})
			}
		}
	}
}

func benchmarkPublish(b *testing.B, subs int, o FollowOptions, publish func(*Stream)) {
	s := newBenchStream(b)
	followers := make([]*Follower, subs)
	for i := range followers {
		followers[i] = s.Follow(o)
		defer followers[i].Close()
	}
	const batch = 5_000
	var total time.Duration
	n := 0
	for b.Loop() { // a batch an iteration; ns/msg is the figure
		start := time.Now()
		for range batch {
			publish(s)
		}
		total += time.Since(start)
		n += batch
		for _, f := range followers {
			f.Acquire()
			f.SkipTo(s.Tail())
			f.Release()
		}
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(n), "ns/msg")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkFollow is Acquire, Read and Release of messages that are there: ns/msg is for
// one follower and one message.
func BenchmarkFollow(b *testing.B) {
	for _, kind := range []FollowOptions{{}, {Lossy: true}} {
		for _, subs := range []int{1, 64} {
			for _, batch := range []int{1, 256} {
				b.Run(fmt.Sprintf("lossy=%v/subs=%d/batch=%d", kind.Lossy, subs, batch), func(b *testing.B) {
					benchmarkFollow(b, kind, subs, batch)
				})
			}
		}
	}
}

func benchmarkFollow(b *testing.B, o FollowOptions, subs, batch int) {
	s := newBenchStream(b)
	followers := make([]*Follower, subs)
	for i := range followers {
		followers[i] = s.Follow(o)
		defer followers[i].Close()
	}
	payload := make([]byte, 64)
	var total time.Duration
	var n int
	for b.Loop() {
		for range 256 {
			if _, err := s.Publish(1, 1, 1, payload); err != nil {
				b.Fatal(err)
			}
		}
		start := time.Now()
		for _, f := range followers {
			for got := 0; got < 256; got += batch {
				f.Acquire()
				for range batch {
					if _, ok := f.Read(); !ok {
						b.Fatal("a message is missing")
					}
				}
				f.Release()
			}
		}
		total += time.Since(start)
		n += 256 * subs
	}
	b.ReportMetric(float64(total.Nanoseconds())/float64(n), "ns/msg")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkThrough is a publisher and a gating follower on two cores: the time between two
// messages that came through.
func BenchmarkThrough(b *testing.B) {
	s := newBenchStream(b)
	f := s.Follow(FollowOptions{})
	done := make(chan struct{})
	b.ResetTimer()
	go func() {
		defer close(done)
		defer f.Close()
		for got := 0; got < b.N; {
			f.Acquire()
			for {
				if _, ok := f.Read(); !ok {
					break
				}
				got++
			}
			f.Release()
			runtime.Gosched()
		}
	}()
	payload := make([]byte, 64)
	for range b.N {
		for {
			if _, err := s.Publish(1, 1, 1, payload); err == nil {
				break
			}
			runtime.Gosched()
		}
	}
	<-done
}
