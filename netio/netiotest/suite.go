package netiotest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

var waitPolicy = ring.Policy{Kind: ring.PolicyWait}

// Run checks what a shard promises to sessions and connections, whatever its Sender is.
// Stream and Route of config are the suite's own.
func Run(t *testing.T, config netio.ShardConfig) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, r *rig)
	}{
		{"everything in order", testEverything},
		{"exact losses", testLosses},
		{"a gap at the end", testGapAtTheEnd},
		{"staged between messages", testStaged},
		{"last words", testLastWords},
		{"the end behind the last bytes", testHangUp},
		{"resets", testResets},
		{"back pressure", testBackPressure},
		{"a long unit", testLongUnit},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newRig(t, config)) })
	}
}

func testEverything(t *testing.T, r *rig) {
	const messages = 10_000
	var readers sync.WaitGroup
	for range 8 {
		p, _ := r.connect(waitPolicy, nil)
		readers.Go(func() {
			if err := p.account(messages, nil); err != nil || p.history.Lost() > 0 {
				t.Errorf("%d lost: %v", p.history.Lost(), err)
			}
		})
	}
	for n := range messages {
		r.publish(1, n%2000)
	}
	readers.Wait()
}

// Peers that do not read at first learn how many messages they missed, to the message.
func testLosses(t *testing.T, r *rig) {
	const messages = 30_000
	policies := []ring.Policy{{Kind: ring.PolicyDropOldest}, {Kind: ring.PolicyDropOldest, MaxLag: 10},
		{Kind: ring.PolicyDropNewest, MaxLag: 100}, {Kind: ring.PolicyConflate},
		{Kind: ring.PolicyWaitFor, For: 10 * time.Millisecond}}
	var peers []*peer
	for _, policy := range policies {
		p, _ := r.connect(policy, nil)
		p.history.LateGaps = policy.Kind == ring.PolicyDropNewest || policy.Kind == ring.PolicyConflate
		peers = append(peers, p)
	}
	r.publish(messages, 1000)
	for i, p := range peers {
		if err := p.account(messages, nil); err != nil {
			t.Errorf("%v: %v", policies[i].Kind, err)
		}
		if p.history.Lost() == 0 {
			t.Errorf("%v: nothing was lost: the test is too short", policies[i].Kind)
		}
	}
}

// DropNewest tells of its last losses though nothing is published after them, also where
// what it kept ends with a submission.
func testGapAtTheEnd(t *testing.T, r *rig) {
	const messages = 30_000
	for _, lag := range []uint32{255, 256, 257, 512} { // 256 frames of 512 bytes: a submission
		p, _ := r.connect(ring.Policy{Kind: ring.PolicyDropNewest, MaxLag: lag}, nil)
		p.history.LateGaps = true
		defer func() {
			if err := p.account(messages, nil); err != nil {
				t.Errorf("MaxLag %d: %v", lag, err)
			}
		}()
	}
	r.publish(messages, 512-frame.HeaderBytes)
}

// What a session stages stands between messages, never in one, and in order.
func testStaged(t *testing.T, r *rig) {
	const messages = 10_000
	p, s := r.connect(waitPolicy, nil)
	_ = p.nc.SetReadBuffer(64 << 10)
	stop, staged := make(chan struct{}), make(chan uint64)
	go func() {
		var n uint64
		for {
			select {
			case <-stop:
				staged <- n
				return
			default:
			}
			done := make(chan struct{})
			n++
			if r.shard.Do(func() {
				s.say(frame.Heartbeat, binary.LittleEndian.AppendUint64(nil, n))
				close(done)
			}) == nil {
				<-done
			}
		}
	}()
	got := make(chan error, 1)
	var last uint64
	check := func(h frame.Header, body []byte) error {
		if n := binary.LittleEndian.Uint64(body); n != last+1 {
			return fmt.Errorf("staged frame %d after %d", n, last)
		}
		last++
		return nil
	}
	go func() { got <- p.account(messages, check) }()
	r.publish(messages, 700)
	err := <-got
	close(stop)
	want := <-staged
	for err == nil && last < want {
		var h frame.Header
		var body []byte
		if h, body, err = p.read(); err == nil {
			err = check(h, body)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// What a session says before it ends arrives, and then the connection ends.
func testLastWords(t *testing.T, r *rig) {
	failed := errors.New("last words")
	for range 20 {
		p, s := r.connect(ring.Policy{}, func(s *session, b []byte) (int, error) {
			s.say(frame.Error, make([]byte, 100<<10))
			return 0, failed
		})
		if _, err := p.nc.Write([]byte("anything")); err != nil {
			t.Fatal(err)
		}
		if h, body, err := p.read(); err != nil || h.Kind != frame.Error || len(body) != 100<<10 {
			t.Errorf("%+v, %d bytes, %v", h, len(body), err)
		}
		if _, _, err := p.read(); err == nil {
			t.Error("a frame after the last words")
		}
		if why := s.ended(); why != failed {
			t.Errorf("ended with %v", why)
		}
	}
}

func testHangUp(t *testing.T, r *rig) {
	for n := range 50 {
		p, s := r.connect(ring.Policy{}, nil)
		if _, err := p.nc.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		p.nc.Close()
		if why := s.ended(); why != netio.ErrPeerClosed {
			t.Errorf("ended with %v", why)
		}
		if got := s.taken.Load(); got != int64(n) {
			t.Errorf("%d bytes of %d came", got, n)
		}
	}
}

// Peers that reset their connections, whose slots others then get, harm nobody.
func testResets(t *testing.T, r *rig) {
	const messages = 6_000
	p, _ := r.connect(waitPolicy, nil)
	got := make(chan error, 1)
	go func() { got <- p.account(messages, nil) }()
	for range 30 {
		q, s := r.connect(waitPolicy, nil)
		r.publish(messages/30, 1000)
		_ = q.nc.SetLinger(0)
		q.nc.Close()
		_ = s.ended()
	}
	if err := <-got; err != nil || p.history.Lost() > 0 {
		t.Errorf("%d lost: %v", p.history.Lost(), err)
	}
}

// Bytes that a session could not take come again, in order, once; the end comes after them.
func testBackPressure(t *testing.T, r *rig) {
	refusals, next := 0, byte(0)
	p, s := r.connect(ring.Policy{}, func(s *session, b []byte) (n int, err error) {
		for ; n < len(b) && n < 1000; n++ {
			if b[n] != next {
				return n, fmt.Errorf("byte %d, want %d", b[n], next)
			}
			next++
		}
		if refusals++; refusals%2 == 0 {
			return n, ring.ErrBackPressure
		}
		return n, nil
	})
	b := make([]byte, 256<<10)
	for i := range b {
		b[i] = byte(i)
	}
	if _, err := p.nc.Write(b); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); s.taken.Load() < int64(len(b)); {
		// A session that leaves bytes without back pressure gets them with the next ones.
		if _, err := p.nc.Write([]byte{byte(len(b))}); err != nil {
			t.Fatal(err)
		}
		b = append(b, byte(len(b)))
		if time.Now().After(deadline) || len(b) > 512<<10 {
			t.Fatalf("%d of %d bytes were taken", s.taken.Load(), len(b))
		}
	}
	p.nc.Close()
	if why := s.ended(); why != netio.ErrPeerClosed {
		t.Errorf("ended with %v", why)
	}
}

// A unit that is longer than any buffer at the start comes whole.
func testLongUnit(t *testing.T, r *rig) {
	const unit = frame.MaxBytes
	p, s := r.connect(ring.Policy{}, func(s *session, b []byte) (int, error) {
		return len(b) / unit * unit, nil
	})
	if _, err := p.nc.Write(make([]byte, 3*unit)); err != nil && err != io.ErrShortWrite {
		t.Fatal(err)
	}
	p.nc.Close()
	if why := s.ended(); why != netio.ErrPeerClosed || s.taken.Load() != 3*unit {
		t.Errorf("%d bytes of %d, ended with %v", s.taken.Load(), 3*unit, why)
	}
}
