package netiotest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// rig is a stream, a shard whose route names every subscriber, and a listener.
type rig struct {
	t        *testing.T
	stream   *ring.Stream
	shard    *netio.Shard
	listener net.Listener
	everyone []*netio.Conn // the shard's
	next     ringtest.Payload
}

func newRig(t *testing.T, config netio.ShardConfig) *rig {
	t.Helper()
	r := &rig{t: t}
	r.next.Publisher = 1
	var err error
	if r.stream, err = ring.NewStream(ring.Config{BlockBytes: 64 << 10, Blocks: 16}); err != nil {
		t.Fatal(err)
	}
	config.Stream = r.stream
	config.Route = func(uint32) []*netio.Conn { return r.everyone }
	if r.shard, err = netio.StartShard(config); err != nil {
		t.Fatal(err)
	}
	if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.listener.Close()
		r.shard.Close()
		if err := r.stream.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// publish publishes n messages of that many bytes each, waiting where it must.
func (r *rig) publish(n, payloadBytes int) {
	r.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	var b []byte
	for range n {
		r.next.Sequence++
		r.next.Bytes = max(payloadBytes, ringtest.MinPayload)
		b = ringtest.AppendPayload(b[:0], r.next)
		for {
			_, err := r.stream.Publish(1, 1, time.Now().UnixNano(), b)
			if err == nil {
				break
			}
			if err != ring.ErrBackPressure || time.Now().After(deadline) {
				r.t.Fatalf("message %d: %v", r.next.Sequence, err)
			}
		}
	}
}

// session is what the suite's connections speak: every byte that comes is counted, and
// what receive says is done.
type session struct {
	rig     *rig
	conn    *netio.Conn
	receive func(b []byte) (int, error)
	closed  chan error
	taken   atomic.Int64
}

// Receive implements netio.Session, as do the others.
func (s *session) Receive(b []byte) (n int, err error) {
	n = len(b)
	if s.receive != nil {
		n, err = s.receive(b)
	}
	s.taken.Add(int64(n))
	return n, err
}

func (s *session) Tick(int64) error { return nil }

func (s *session) Slow() { s.say(frame.Error, nil) }

func (s *session) say(kind frame.Kind, body []byte) {
	s.conn.Stage(func(dst []byte) []byte { return frame.Append(dst, frame.Header{Kind: kind}, body) })
}

func (s *session) AppendGap(dst []byte, g ring.Gap) []byte {
	return frame.Append(dst, frame.Header{Kind: frame.Gap, Sequence: g.Count}, nil)
}

func (s *session) Closed(why error) {
	var rest []*netio.Conn
	for _, c := range s.rig.everyone {
		if c != s.conn {
			rest = append(rest, c)
		}
	}
	s.rig.everyone = rest
	s.closed <- why
}

// connect adds a connection; the zero Policy subscribes to nothing.
func (r *rig) connect(p ring.Policy, receive func(s *session, b []byte) (int, error)) (*peer, *session) {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.listener.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	accepted, err := r.listener.Accept()
	if err != nil {
		r.t.Fatal(err)
	}
	ready := make(chan *session, 1)
	err = r.shard.Adopt(accepted, func(c *netio.Conn) netio.Session {
		s := &session{rig: r, conn: c, closed: make(chan error, 1)}
		if receive != nil {
			s.receive = func(b []byte) (int, error) { return receive(s, b) }
		}
		if p.Kind != ring.PolicyDefault {
			c.Subscribe(p)
			r.everyone = append(append([]*netio.Conn(nil), r.everyone...), c)
		}
		ready <- s
		return s
	})
	if err != nil {
		r.t.Fatal(err)
	}
	q := &peer{nc: nc.(*net.TCPConn), r: bufio.NewReaderSize(nc, 64<<10)}
	return q, <-ready
}

// ended waits until the session is closed, and answers why.
func (s *session) ended() error {
	select {
	case why := <-s.closed:
		return why
	case <-time.After(10 * time.Second):
		s.rig.t.Error("a session does not end")
		return nil
	}
}

// peer is the other end of a connection.
type peer struct {
	nc      *net.TCPConn
	r       *bufio.Reader
	body    []byte
	history ringtest.History
}

func (p *peer) read() (h frame.Header, body []byte, err error) {
	head, err := p.r.Peek(frame.HeaderBytes)
	if err != nil {
		return h, nil, err
	}
	length := frame.Get(head).Length
	if length < frame.HeaderBytes || length > frame.MaxBytes {
		return h, nil, fmt.Errorf("netiotest: framing is lost: length %d", length)
	}
	p.body = append(p.body[:0], make([]byte, frame.Aligned(int(length)))...)
	if _, err := io.ReadFull(p.r, p.body); err != nil {
		return h, nil, err
	}
	h, body, _, err = frame.Parse(p.body, frame.MaxBytes)
	return h, body, err
}

// account reads until messages and losses add up to total, checks every byte, and hands
// other frames to other.
func (p *peer) account(total uint64, other func(h frame.Header, body []byte) error) error {
	for p.history.Messages()+p.history.Lost() < total {
		h, body, err := p.read()
		if err != nil {
			return fmt.Errorf("after %d messages and %d losses of %d: %w", p.history.Messages(),
				p.history.Lost(), total, err)
		}
		switch {
		case h.Kind == frame.Data:
			var payload ringtest.Payload
			if payload, err = ringtest.CheckPayload(body); err == nil {
				err = p.history.Observe(payload)
			}
		case h.Kind == frame.Gap:
			p.history.Gap(h.Sequence)
		case other != nil:
			err = other(h, body)
		default:
			err = fmt.Errorf("netiotest: a frame of kind %d", h.Kind)
		}
		if err != nil {
			return err
		}
	}
	return p.history.Done(map[uint32]uint64{1: total})
}
