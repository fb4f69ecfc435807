package client

import (
	"fmt"
	"slices"
	"testing"
)

// BenchmarkGroup reads what one goroutine writes, on loopback: both ends' costs.
func BenchmarkGroup(b *testing.B) {
	for _, subs := range []int{1, 16} {
		b.Run(fmt.Sprint("subs=", subs, "/size=500"), func(b *testing.B) {
			message := data(1, string(make([]byte, 500)))
			chunk := slices.Repeat(message, 64<<10/len(message))
			c := dialTest(b, serve(b, control, func(p *peer) {
				p.subscribed(streamID, 1)
				for p.send(chunk) {
				}
			}), Config{Reconnect: Reconnect{Disabled: true}})
			g, err := NewGroup(GroupConfig{})
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			for range subs {
				addTest(b, g, subscribeTest(b, c, ">"))
			}
			ctx, sum, messages := patient(b), uint64(0), 0
			fn := func(s *Subscription, m *Message) { sum += m.Sequence }
			b.ReportAllocs()
			for b.Loop() {
				n, err := g.Poll(ctx, fn)
				if err != nil {
					b.Fatal(err)
				}
				messages += n
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(messages), "ns/msg")
			b.ReportMetric(float64(messages)/float64(b.N), "msgs/poll")
		})
	}
}
