package netio_test

import (
	"errors"
	"testing"

	"github.com/fantail-io/fantail/netio"
	"github.com/fantail-io/fantail/netio/netiotest"
	"github.com/fantail-io/fantail/ring"
)

// Every sender passes the same suite.
func TestConformance(t *testing.T) {
	for _, sender := range []string{"auto", "writev", "uring", "portable"} {
		t.Run(sender, func(t *testing.T) {
			stream, err := ring.NewStream(ring.Config{BlockBytes: 64 << 10, Blocks: 4})
			if err != nil {
				t.Fatal(err)
			}
			probe, err := netio.StartShard(netio.ShardConfig{Stream: stream, Sender: sender,
				Route: func(uint32) []*netio.Conn { return nil }})
			if err != nil && (errors.Is(err, ring.ErrNotSupported) || sender == "writev") {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			probe.Close()
			if err := stream.Close(); err != nil {
				t.Fatal(err)
			}
			netiotest.Run(t, netio.ShardConfig{Sender: sender})
		})
	}
}
