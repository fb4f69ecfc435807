package native

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// F23: connections are reset, not closed, with bytes on their way in both directions.
func TestResetStorm(t *testing.T) {
	eachSender(t, func(t *testing.T, sender string) {
		l := listen(t, testEngine(t), Config{Sender: sender, Shards: 2})
		p := startPair(t, l, 1)
		seed := ringtest.Seed(t)
		storm(t, l, seed, 3) // tables that keep their memory
		openConnections(t, l, 2)
		before := takeBase(t)
		storm(t, l, seed+1, full(8, 3))
		openConnections(t, l, 2)
		before.restored(4 << 20)
		if p.finish() == 0 {
			t.Error("the innocents published nothing")
		}
	})
}

func storm(t *testing.T, l *Listener, seed int64, rounds int) {
	kinds := []ring.PolicyKind{ring.PolicyWait, ring.PolicyDropOldest, ring.PolicyDropNewest, ring.PolicyConflate}
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(seed), uint64(worker)))
			for range rounds {
				k, err := dialLink(l.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				_ = k.nc.SetLinger(0)
				policy := ring.Policy{Kind: kinds[random.IntN(len(kinds))]}
				if err := k.subscribe(">", policy); err != nil {
					t.Error(err)
				}
				b := native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte("storm")})
				for range random.IntN(100) {
					b = native.AppendPublish(b, &native.Publish{Alias: 1, Payload: make([]byte, 1000)})
				}
				_ = k.write(b[:len(b)-random.IntN(40)])
				for range random.IntN(200) {
					if _, _, err := k.read(); err != nil {
						t.Error(err)
						break
					}
				}
				k.nc.Close()
			}
		})
	}
	workers.Wait()
}
