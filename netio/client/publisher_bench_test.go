package client

import (
	"fmt"
	"io"
	"testing"
)

// BenchmarkPublish is what a publisher pays, while a server on loopback reads.
func BenchmarkPublish(b *testing.B) {
	for _, size := range []int{64, 500} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			c := dialTest(b, serve(b, func(p *peer) {
				p.welcome(streamID)
				_, _ = io.Copy(io.Discard, p.conn)
			}), Config{})
			p := publisherTest(b, c, "a")
			payload, ctx := make([]byte, size), patient(b)
			b.ReportAllocs()
			for b.Loop() {
				if err := p.PublishContext(ctx, payload); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(c.Stats().Published)/float64(c.Stats().Batches), "msgs/batch")
		})
	}
}
