package native

import (
	"fmt"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring"
)

// openConnections waits until the door has that many connections.
func openConnections(t testing.TB, l *Listener, want int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		open := l.Snapshot().Open // waits for a turn of the shards
		if open == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections, want %d", open, want)
		}
	}
}

func TestKilledSubscriberDisturbsNobody(t *testing.T) {
	for _, policy := range []ring.Policy{waitPolicy, {Kind: ring.PolicyDropOldest}} {
		t.Run(policy.Kind.String(), func(t *testing.T) {
			l := listen(t, testEngine(t), Config{})
			var readers []*reader
			for range 4 {
				readers = append(readers, startReader(t, l, "kill.>", waitPolicy))
			}
			c := startChild(t, "subscriber", append(policySettings(policy),
				"ADDRESS="+l.Addr().String(), "PATTERN=kill.>", "TOTAL=1000000000")...)
			c.expect("ready")
			s := startSource(t, l, "kill.one", 1, 64, 1000)
			messages := full(20_000, 5_000)
			for i := range 10 {
				if i == 5 {
					c.kill() // with messages in flight to it
				}
				if err := s.publish(messages / 10); err != nil {
					t.Fatal(err)
				}
			}
			for _, r := range readers {
				r.complete(t, map[uint32]uint64{1: uint64(messages)}, false)
			}
			openConnections(t, l, 1) // the publisher
		})
	}
}

func TestPublisherKilledMidFrame(t *testing.T) {
	l := listen(t, testEngine(t), Config{})
	const each = 2_000
	r := startReader(t, l, "kill.>", waitPolicy)
	var children []*child
	for i := range 2 {
		children = append(children, startChild(t, "publisher", "ADDRESS="+l.Addr().String(),
			fmt.Sprintf("TOPIC=kill.%d", i), fmt.Sprintf("NUMBER=%d", i+2), fmt.Sprintf("COUNT=%d", each)))
	}
	s := startSource(t, l, "kill.innocent", 1, 64, 1000)
	if err := s.publish(each); err != nil {
		t.Fatal(err)
	}
	for _, c := range children {
		c.expect("half")
		c.kill()
	}
	openConnections(t, l, 2)
	if err := s.publish(each); err != nil {
		t.Fatal(err)
	}
	// Exactly the whole messages of the dead, and all of the living.
	r.complete(t, map[uint32]uint64{1: 2 * each, 2: each, 3: each}, false)
}

func TestServerKilledAndStartedAgain(t *testing.T) {
	c := startChild(t, "server", "ADDRESS=127.0.0.1:0")
	address := c.expect("address")
	streams := make(map[uint64]bool)
	for life := range 3 {
		const readers, messages = 8, 2_000
		var all []*reader
		for range readers {
			r, err := redial(t, address)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		streams[all[0].link.streamID] = true
		s, err := newSource(address, "kill.server", uint32(life+1), 64, 500)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.publish(messages); err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			r.complete(t, map[uint32]uint64{uint32(life + 1): messages}, false)
		}
		// These are connected when it dies, one of them in the middle of a message.
		last, err := redial(t, address)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.half(); err != nil {
			t.Fatal(err)
		}
		c.kill()
		<-last.done
		s.link.nc.Close()
		last.link.nc.Close()
		if life < 2 {
			c = startChild(t, "server", "ADDRESS="+address)
			c.expect("address")
		}
	}
	if len(streams) != 3 {
		t.Errorf("three lives had %d stream identities", len(streams))
	}
}

// redial connects a reader to a server that may be starting.
func redial(t testing.TB, address string) (r *reader, err error) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if r, err = newReader(address, "kill.>", waitPolicy); err == nil {
			go r.run()
			return r, nil
		}
		if time.Now().After(deadline) {
			return nil, err
		}
	}
}
