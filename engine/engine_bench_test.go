package engine

import (
	"fmt"
	"testing"

	"github.com/fantail-io/fantail/ring/wait"
)

// A publish costs the same with 1 and with 1,000 subscribers that have nothing else to do.
func BenchmarkPublish(b *testing.B) {
	for _, subs := range []int{0, 1, 64, 1000} {
		for _, size := range []int{20, 500} {
			b.Run(fmt.Sprintf("subs=%d/size=%d", subs, size), func(b *testing.B) {
				e, err := New(Config{})
				if err != nil {
					b.Fatal(err)
				}
				defer e.Close(b.Context())
				for range subs {
					if _, err := e.Subscribe("md.>", SubscribeOptions{}); err != nil {
						b.Fatal(err)
					}
				}
				p, err := e.Publisher("md.AAPL")
				if err != nil {
					b.Fatal(err)
				}
				payload := make([]byte, size)
				b.ReportAllocs()
				for b.Loop() {
					if err := p.Publish(payload); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// One goroutine publishes a batch, and polls it from every subscription.
func BenchmarkFanout(b *testing.B) {
	for _, subs := range []int{1, 3, 64} {
		for _, batch := range []int{1, 16, 256} {
			b.Run(fmt.Sprintf("subs=%d/batch=%d", subs, batch), func(b *testing.B) {
				e, err := New(Config{})
				if err != nil {
					b.Fatal(err)
				}
				defer e.Close(b.Context())
				all := make([]*Subscription, subs)
				for i := range all {
					all[i], err = e.Subscribe(">", SubscribeOptions{Policy: Wait(), Wait: wait.Busy})
					if err != nil {
						b.Fatal(err)
					}
				}
				p, err := e.Publisher("md.AAPL")
				if err != nil {
					b.Fatal(err)
				}
				payload := make([]byte, 500)
				n := 0
				count := func(m *Message) { n += len(m.Payload) }
				b.ReportAllocs()
				for b.Loop() {
					for range batch {
						if err := p.Publish(payload); err != nil {
							b.Fatal(err)
						}
					}
					for _, s := range all {
						if got, err := s.Poll(batch, count); got != batch || err != nil {
							b.Fatal(got, err)
						}
					}
				}
				deliveries := float64(b.N) * float64(batch*subs)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/deliveries, "ns/delivery")
			})
		}
	}
}

func BenchmarkPublishBatch(b *testing.B) {
	for _, size := range []int{20, 500} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			e, err := New(Config{})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close(b.Context())
			p, err := e.Publisher("md.AAPL")
			if err != nil {
				b.Fatal(err)
			}
			batch := make([][]byte, 64)
			for i := range batch {
				batch[i] = make([]byte, size)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.PublishBatch(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/msg")
		})
	}
}
