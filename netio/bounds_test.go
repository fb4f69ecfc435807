package netio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// conn answers the figures of the harness's only connection.
func (h *harness) conn() ConnStats {
	h.t.Helper()
	st, err := h.shard.Snapshot()
	if err != nil || len(st.Conns) != 1 {
		h.t.Fatalf("%d connections, %v", len(st.Conns), err)
	}
	return st.Conns[0]
}

// Invariant 6: a peer that asks and asks, and reads no answer, is not read from any more. Once
// it reads, every answer comes.
func TestAnswersThatNobodyReadsAreBounded(t *testing.T) {
	for _, sender := range senders(t) {
		t.Run(sender, func(t *testing.T) {
			h := newHarness(t, sender, ring.Config{BlockBytes: 64 << 10, Blocks: 4})
			peer, _ := h.connect(ring.Policy{})
			const most = 64 << 20
			question, asked := bytes.Repeat([]byte{'?'}, 64<<10), 0
			for asked < most {
				_ = peer.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
				n, err := peer.Write(question)
				asked += n
				if errors.Is(err, os.ErrDeadlineExceeded) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if staged := h.conn().StagedBytes; asked >= most || staged > owedMax+2*readBytes {
				t.Errorf("%d bytes of answers are staged after %d of questions", staged, asked)
			}
			r := bufio.NewReader(peer)
			for answered := 0; answered < asked; {
				_ = peer.SetReadDeadline(time.Now().Add(10 * time.Second))
				_, b, err := readFrame(r)
				if err != nil {
					t.Fatalf("%d of %d bytes answered: %v", answered, asked, err)
				}
				answered += len(b)
			}
		})
	}
}

// A session that says more, by itself, than its peer reads is ended as slow.
func TestControlBytesAreBounded(t *testing.T) {
	h := newHarness(t, "auto", ring.Config{BlockBytes: 64 << 10, Blocks: 4})
	_, s := h.connect(ring.Policy{Kind: ring.PolicyDropOldest})
	body := make([]byte, 64<<10)
	for range 2 * controlMax / len(body) {
		if err := h.shard.Do(func() {
			s.c.Stage(func(dst []byte) []byte {
				return frame.Append(dst, frame.Header{Kind: frame.Topic}, body)
			})
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-s.closed; err != ErrSlowConsumer {
		t.Errorf("closed: %v", err)
	}
}

// What epoll cannot watch is refused: it has no descriptor, and zero is somebody else's.
func TestAdoptRefusesWhatIsNoSocket(t *testing.T) {
	for _, sender := range senders(t) {
		h := newHarness(t, sender, ring.Config{BlockBytes: 64 << 10, Blocks: 4})
		ours, theirs := net.Pipe()
		defer theirs.Close()
		err := h.shard.Adopt(ours, func(c *Conn) Session {
			return &echoSession{c: c, h: h, closed: make(chan error, 1)}
		})
		if ok := sender == "portable"; ok != (err == nil) || !ok && !errors.Is(err, ring.ErrNotSupported) {
			t.Errorf("%s: Adopt of a pipe = %v", sender, err)
		}
	}
}

// Drain waits for what was published behind a claim that is still open.
func TestDrainWaitsForOpenClaims(t *testing.T) {
	h := newHarness(t, "auto", ring.Config{BlockBytes: 64 << 10, Blocks: 4})
	peer, _ := h.connect(ring.Policy{Kind: ring.PolicyDropOldest})
	open, err := h.stream.Claim(1, 1, 1, 8)
	if err != nil {
		t.Fatal(err)
	}
	h.publish(2, 100)
	if err := h.shard.Drain(drainSoon(t)); err == nil {
		t.Error("drained, with a published message still in the stream")
	}
	if err := open.Abort(); err != nil {
		t.Error(err)
	}
	if err := h.shard.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if err := h.shard.Close(); err != nil {
		t.Error(err)
	}
	hd, _, err := readFrame(bufio.NewReader(peer))
	if err != nil || hd.Sequence != 2 {
		t.Errorf("sequence %d, %v", hd.Sequence, err)
	}
}

// Drain comes to an end while others go on publishing, and for everybody who asks.
func TestDrainWhilePublishing(t *testing.T) {
	h := newHarness(t, "auto", ring.Config{BlockBytes: 64 << 10, Blocks: 16})
	peer, _ := h.connect(ring.Policy{Kind: ring.PolicyDropOldest})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := uint64(1); ; n++ {
			select {
			case <-stop:
				return
			default:
				h.publish(n, 100)
			}
		}
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, peer)
	}()
	drained := make(chan error)
	for range 2 {
		go func() { drained <- h.shard.Drain(t.Context()) }()
	}
	for range 2 {
		if err := <-drained; err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-done
	peer.Close()
	<-read
}

// Invariants 2 and 8: claims that nobody answers for cost their blocks, and a peer that does
// not read costs the publisher no more than its policy says, however few blocks are left.
func TestStoppedPeerWithLeakedClaims(t *testing.T) {
	for _, policy := range []ring.Policy{{Kind: ring.PolicyDropOldest},
		{Kind: ring.PolicyWaitFor, For: 10 * time.Millisecond}} {
		t.Run(policy.Kind.String(), func(t *testing.T) {
			h := newHarness(t, "auto", ring.Config{BlockBytes: 64 << 10, Blocks: 6,
				ClaimTimeout: time.Millisecond})
			h.connect(policy)
			payload := make([]byte, 1000)
			publish := func() {
				for deadline := time.Now().Add(5 * time.Second); ; {
					_, err := h.stream.Publish(1, 1, 1, payload)
					if err == nil {
						return
					}
					if err != ring.ErrBackPressure || time.Now().After(deadline) {
						t.Fatal(err)
					}
					h.stream.Sweep(time.Now().UnixNano())
				}
			}
			for range 3 {
				leaked, err := h.stream.Claim(1, 1, 1, 8)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = leaked.Abort() }()
				for range 70 { // more than a block
					publish()
				}
			}
			for range 20_000 { // more than a socket's buffers
				publish()
			}
		})
	}
}
