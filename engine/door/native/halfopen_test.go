package native

import (
	"context"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/netiotest"
	"github.com/fantail-io/fantail/ring"
)

// F22: the cable to a peer is cut in the middle of a transfer. Nothing tells the server; it
// finds out in time, frees what the peer held, and those on other cables lose nothing.
func TestHalfOpenPeerIsFoundOut(t *testing.T) {
	here, there := netiotest.NewNetNS(t), netiotest.NewNetNS(t)
	here.Join(t, there)
	e := testEngine(t)
	var l *Listener
	var err error
	here.Do(func() {
		l, err = Listen(e, "tcp4", "0.0.0.0:0", Config{HeartbeatEvery: 500 * time.Millisecond,
			IdleTimeout: 1500 * time.Millisecond})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := soon()
		defer cancel()
		_ = l.Close(ctx)
	}()
	port := l.Addr().String()[len("0.0.0.0"):]
	var far []*reader
	var near *reader
	var farSource, nearSource *source
	there.Do(func() {
		// One that holds the stream, one that does not, and a publisher.
		for _, p := range []ring.Policy{waitPolicy, {Kind: ring.PolicyDropOldest}} {
			var r *reader
			if r, err = newReader("10.99.0.1"+port, "open.>", p); err != nil {
				return
			}
			far = append(far, r)
		}
		farSource, err = newSource("10.99.0.1"+port, "open.far", 2, 64, 100)
	})
	if err != nil {
		t.Fatal(err)
	}
	here.Do(func() {
		if near, err = newReader("127.0.0.1"+port, "open.>", waitPolicy); err != nil {
			return
		}
		nearSource, err = newSource("127.0.0.1"+port, "open.near", 1, 1000, 100)
	})
	if err != nil {
		t.Fatal(err)
	}
	go near.run()
	defer near.link.nc.Close()
	for _, r := range far {
		defer r.link.nc.Close()
		go r.run()
	}
	defer farSource.link.nc.Close()
	defer nearSource.link.nc.Close()
	if err := farSource.publish(100); err != nil {
		t.Fatal(err)
	}
	if err := farSource.sync(); err != nil {
		t.Fatal(err)
	}
	if err := far[0].await(context.Background(), 100); err != nil {
		t.Fatal(err)
	}
	if err := here.IP("link set cable down"); err != nil {
		t.Fatal(err)
	}
	cut := time.Now()
	messages := full(20_000, 8_000) // more than the stream holds: the far one gates until found out
	published := make(chan error, 1)
	go func() { published <- nearSource.publish(messages) }()
	openConnections(t, l, 2)
	found := time.Since(cut)
	t.Logf("found out after %v", found.Round(time.Millisecond))
	if found > 6*time.Second {
		t.Errorf("found out after %v, with an idle timeout of 1.5s", found)
	}
	if err := <-published; err != nil {
		t.Fatalf("%v; rejected: %v", err, l.Snapshot().Rejected)
	}
	near.complete(t, map[uint32]uint64{1: uint64(messages), 2: 100}, false)
}
