package native

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// eachSender runs a test for every sender that this machine has.
func eachSender(t *testing.T, test func(t *testing.T, sender string)) {
	for _, sender := range []string{"auto", "writev", "uring", "portable"} {
		t.Run(sender, func(t *testing.T) {
			e := testEngine(t)
			l, err := Listen(e, "tcp", "127.0.0.1:0", Config{Sender: sender})
			if errors.Is(err, ring.ErrNotSupported) || sender != "portable" && err != nil {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := soon()
			defer cancel()
			_ = l.Close(ctx)
			test(t, sender)
		})
	}
}

// Everything comes to everybody, in order and byte for byte, whatever sends it and however
// many shards share the work.
func TestEndToEnd(t *testing.T) {
	eachSender(t, func(t *testing.T, sender string) {
		counts := []int{1, 2, 4}
		if raceEnabled {
			counts = counts[1:2]
		}
		for _, shards := range counts {
			t.Run(fmt.Sprintf("shards=%d", shards), func(t *testing.T) {
				l := listen(t, testEngine(t), Config{Shards: shards, Sender: sender})
				const sources = 4
				messages := full(4_000, 1_000)
				var readers []*reader
				for range 16 {
					readers = append(readers, startReader(t, l, "end.>", waitPolicy))
				}
				want := make(map[uint32]uint64)
				published := make(chan error, sources)
				for i := range uint32(sources) {
					s := startSource(t, l, fmt.Sprintf("end.%d", i), i+1, 44, 1500)
					want[i+1] = uint64(messages)
					go func() { published <- s.publish(messages) }()
				}
				for range sources {
					if err := <-published; err != nil {
						t.Fatal(err)
					}
				}
				for _, r := range readers {
					r.complete(t, want, false)
				}
				for i, s := range l.Snapshot().Shards {
					if s.Followed < sources*uint64(messages) {
						t.Errorf("shard %d followed %d messages", i, s.Followed)
					}
				}
			})
		}
	})
}

// A peer that is refused is told why, whatever sends it.
func TestEverySenderSaysWhy(t *testing.T) {
	eachSender(t, func(t *testing.T, sender string) {
		l := listen(t, testEngine(t), Config{Sender: sender})
		for range 20 {
			p := connect(t, l)
			p.send([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
			p.refused(native.CodeBadHandshake)
		}
	})
}

// The longest message that the engine takes goes through, in and out.
func TestLongestMessage(t *testing.T) {
	eachSender(t, func(t *testing.T, sender string) {
		for _, blockBytes := range []int{64 << 10, 256 << 10, 1 << 20} {
			t.Run(fmt.Sprint(blockBytes), func(t *testing.T) {
				e, err := engine.New(engine.Config{StreamBytes: 16 << 20, BlockBytes: blockBytes})
				if err != nil {
					t.Fatal(err)
				}
				closeLater(t, e)
				l := listen(t, e, Config{Sender: sender})
				r := startReader(t, l, "long", waitPolicy)
				s := startSource(t, l, "long", 1, ringtest.MinPayload, 1)
				for _, bytes := range []int{44, e.MaxPayload(), 45, e.MaxPayload() - 1, e.MaxPayload() - 8} {
					s.least = bytes
					if err := s.publish(3); err != nil {
						t.Fatal(err)
					}
				}
				r.complete(t, map[uint32]uint64{1: 15}, false)
			})
		}
	})
}
