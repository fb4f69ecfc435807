package netio

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// senders are the ways in which this build can send; each passes the same suite.
func senders(t *testing.T) []string {
	all := []string{"portable"}
	for _, name := range []string{"writev", "uring"} {
		io, err := newTransport(name)
		if err != nil {
			t.Logf("sender %s: %v", name, err)
			continue
		}
		io.close()
		all = append(all, name)
	}
	return all
}

// echoSession subscribes its connection at once and answers what it is told.
type echoSession struct {
	c      *Conn
	h      *harness
	closed chan error
}

func (s *echoSession) Receive(b []byte) (int, error) {
	if string(b) == "bad" {
		s.c.Stage(func(dst []byte) []byte { return frame.Append(dst, frame.Header{Kind: frame.Error}, nil) })
		return 0, errors.New("bad bytes")
	}
	s.c.Stage(func(dst []byte) []byte {
		return frame.Append(dst, frame.Header{Kind: frame.Heartbeat}, b)
	})
	return len(b), nil
}
func (s *echoSession) Tick(int64) error { return nil }
func (s *echoSession) Slow() {
	s.c.Stage(func(dst []byte) []byte { return frame.Append(dst, frame.Header{Kind: frame.Error}, nil) })
}
func (s *echoSession) AppendGap(dst []byte, g ring.Gap) []byte {
	var body [24]byte
	binary.LittleEndian.PutUint64(body[0:], g.First)
	binary.LittleEndian.PutUint64(body[8:], g.Last)
	binary.LittleEndian.PutUint64(body[16:], g.Count)
	return frame.Append(dst, frame.Header{Kind: frame.Gap, Flags: uint8(g.Reason)}, body[:])
}
func (s *echoSession) Closed(why error) { s.h.leave(s.c); s.closed <- why }

// harness is a stream, a shard, and a route that names every connection.
type harness struct {
	t        testing.TB
	stream   *ring.Stream
	shard    *Shard
	listener net.Listener
	everyone []*Conn // the shard's
}

func newHarness(t testing.TB, sender string, rc ring.Config) *harness {
	t.Helper()
	h := &harness{t: t}
	var err error
	if h.stream, err = ring.NewStream(rc); err != nil {
		t.Fatal(err)
	}
	h.shard, err = StartShard(ShardConfig{Stream: h.stream, Sender: sender,
		Route: func(uint32) []*Conn { return h.everyone }})
	if err != nil {
		t.Fatal(err)
	}
	if h.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.listener.Close()
		h.shard.Close()
		if err := h.stream.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *harness) leave(c *Conn) {
	var rest []*Conn
	for _, o := range h.everyone {
		if o != c {
			rest = append(rest, o)
		}
	}
	h.everyone = rest
}

// connect adds a subscriber and answers the peer's end and the server's session.
func (h *harness) connect(p ring.Policy) (*net.TCPConn, *echoSession) {
	h.t.Helper()
	peer, err := net.Dial("tcp", h.listener.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	nc, err := h.listener.Accept()
	if err != nil {
		h.t.Fatal(err)
	}
	ready := make(chan *echoSession, 1)
	err = h.shard.Adopt(nc, func(c *Conn) Session {
		s := &echoSession{c: c, h: h, closed: make(chan error, 1)}
		if p.Kind != ring.PolicyDefault {
			c.Subscribe(p)
			h.everyone = append(append([]*Conn(nil), h.everyone...), c)
		}
		ready <- s
		return s
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { peer.Close() })
	return peer.(*net.TCPConn), <-ready
}

// publish publishes message n, whose payload says n and is filled with it.
func (h *harness) publish(n uint64, size int) {
	payload := make([]byte, size)
	fill(payload, n)
	for {
		_, err := h.stream.Publish(1, 1, time.Now().UnixNano(), payload)
		if err == nil {
			return
		}
		if err != ring.ErrBackPressure {
			h.t.Error(err)
			return
		}
		s := h.stream.Space().NewSleeper()
		s.Arm()
		select {
		case <-s.C():
		case <-time.After(time.Millisecond):
		}
		s.Close()
	}
}

func fill(b []byte, n uint64) {
	for i := range b {
		b[i] = byte(n) + byte(i)
	}
	if len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, n)
	}
}

// readFrame reads one frame from a peer's end.
func readFrame(r *bufio.Reader) (frame.Header, []byte, error) {
	var head [frame.HeaderBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame.Header{}, nil, err
	}
	h := frame.Get(head[:])
	if h.Length < frame.HeaderBytes || h.Length > frame.MaxBytes {
		return h, nil, fmt.Errorf("length %d: framing is broken", h.Length)
	}
	b := make([]byte, frame.Aligned(int(h.Length))-frame.HeaderBytes)
	if _, err := io.ReadFull(r, b); err != nil {
		return h, nil, err
	}
	return h, b[:h.Length-frame.HeaderBytes], nil
}

// account reads until sequence last is there or lost, checks every byte, and answers how
// many messages came and how many were lost.
func account(r *bufio.Reader, first, last uint64) (got, lost uint64, err error) {
	next := first
	want := make([]byte, 1<<16)
	for next <= last {
		h, b, err := readFrame(r)
		if err != nil {
			return got, lost, fmt.Errorf("before sequence %d: %w", next, err)
		}
		switch h.Kind {
		case frame.Gap:
			from, to := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
			count := binary.LittleEndian.Uint64(b[16:])
			if from != next || to-from+1 != count {
				return got, lost, fmt.Errorf("gap %d to %d, %d messages, where %d is next",
					from, to, count, next)
			}
			lost += count
			next = to + 1
		case frame.Data:
			if h.Sequence != next {
				return got, lost, fmt.Errorf("sequence %d, want %d", h.Sequence, next)
			}
			fill(want[:len(b)], h.Sequence)
			if string(want[:len(b)]) != string(b) {
				return got, lost, fmt.Errorf("sequence %d: wrong bytes", h.Sequence)
			}
			got++
			next++
		}
	}
	return got, lost, nil
}

func TestEverySubscriberGetsEverything(t *testing.T) {
	for _, sender := range senders(t) {
		t.Run(sender, func(t *testing.T) {
			h := newHarness(t, sender, ring.Config{BlockBytes: 64 << 10, Blocks: 16})
			const subs, messages = 16, 20_000
			var readers sync.WaitGroup
			for range subs {
				peer, _ := h.connect(ring.Policy{Kind: ring.PolicyWait})
				readers.Go(func() {
					got, lost, err := account(bufio.NewReaderSize(peer, 64<<10), 1, messages)
					if err != nil || got != messages || lost != 0 {
						t.Errorf("%d messages, %d lost: %v", got, lost, err)
					}
				})
			}
			for n := range uint64(messages) {
				h.publish(n+1, int(n%1500))
			}
			readers.Wait()
		})
	}
}

func TestSlowDropOldestGetsExactGaps(t *testing.T) {
	for _, sender := range senders(t) {
		t.Run(sender, func(t *testing.T) {
			h := newHarness(t, sender, ring.Config{BlockBytes: 64 << 10, Blocks: 32})
			peer, _ := h.connect(ring.Policy{Kind: ring.PolicyDropOldest})
			const messages = 60_000
			for n := range uint64(messages) {
				h.publish(n+1, 500)
			}
			if err := h.shard.Drain(drainSoon(t)); err == nil {
				t.Fatal("30 MB drained into a socket that nobody reads")
			}
			got, lost, err := account(bufio.NewReaderSize(peer, 64<<10), 1, messages)
			if err != nil || got+lost != messages || lost == 0 || got == 0 {
				t.Errorf("%d messages, %d lost, of %d: %v", got, lost, messages, err)
			}
			t.Logf("%d messages, %d lost", got, lost)
		})
	}
}

func drainSoon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}
