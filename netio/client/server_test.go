package client

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// server is a scripted one: its first connection runs the first script, and so on; when
// there is none left the last one runs again. A connection closes when its script returns.
type server struct {
	t       testing.TB
	l       net.Listener
	scripts []func(p *peer)
	running sync.WaitGroup
	mu      sync.Mutex
	peers   []*peer
	closed  bool
}

func serve(t testing.TB, scripts ...func(p *peer)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, l: l, scripts: scripts}
	s.running.Go(s.accept)
	t.Cleanup(s.close)
	return s
}

func (s *server) address() string { return s.l.Addr().String() }

func (s *server) accept() {
	for i := 0; ; i++ {
		c, err := s.l.Accept()
		if err != nil {
			return
		}
		p := &peer{t: s.t, conn: c}
		c.SetDeadline(time.Now().Add(patienceMax))
		s.mu.Lock()
		if s.closed {
			c.Close()
		}
		s.peers = append(s.peers, p)
		s.mu.Unlock()
		script := s.scripts[min(i, len(s.scripts)-1)]
		s.running.Go(func() {
			defer c.Close()
			script(p)
		})
	}
}

func (s *server) close() {
	s.l.Close()
	s.mu.Lock()
	s.closed = true
	for _, p := range s.peers {
		p.conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// peer is the server's end of one connection.
type peer struct {
	t    testing.TB
	conn net.Conn
	in   []byte
}

// next reads a frame; false at the end of the connection. The body is valid until the next.
func (p *peer) next() (frame.Header, []byte, bool) {
	for {
		h, body, n, err := frame.Parse(p.in, frame.MaxBytes)
		if err == nil {
			p.in = p.in[n:]
			return h, body, true
		}
		if err != frame.ErrShort {
			p.t.Errorf("the client sent no frame: %v", err)
			return h, nil, false
		}
		from := len(p.in)
		p.in = slices.Grow(p.in[:from:from], 64<<10)
		k, err := p.conn.Read(p.in[from:cap(p.in)])
		p.in = p.in[:from+k]
		if k == 0 && err != nil {
			return h, nil, false
		}
	}
}

// expect reads a frame that must be of that kind; heartbeats that ask are answered before.
func (p *peer) expect(kind frame.Kind) (frame.Header, []byte) {
	for {
		h, body, ok := p.next()
		if !ok {
			p.t.Errorf("the connection ended where %s belongs", native.KindName(kind))
			return h, nil
		}
		if h.Kind == kind {
			return h, body
		}
		if h.Kind != frame.Heartbeat {
			p.t.Errorf("%s where %s belongs", native.KindName(h.Kind), native.KindName(kind))
			return h, nil
		}
		p.echo(h)
	}
}

func (p *peer) echo(h frame.Header) {
	if h.Sequence != 0 && h.Flags == 0 {
		p.send(native.AppendHeartbeat(nil, native.Heartbeat{Sequence: h.Sequence, Reply: true}))
	}
}

func (p *peer) send(b []byte) bool {
	_, err := p.conn.Write(b)
	return err == nil
}

// untilEnd reads, and echoes heartbeats, until the client ends the connection.
func (p *peer) untilEnd() {
	for {
		h, _, ok := p.next()
		if !ok || h.Kind == frame.Goodbye {
			return
		}
		if h.Kind == frame.Heartbeat {
			p.echo(h)
		}
	}
}

const streamID = 42

// welcome reads a HELLO and accepts it.
func (p *peer) welcome(stream uint64) native.Hello {
	h, body := p.expect(frame.Hello)
	hello, err := native.ParseHello(h, body)
	if err != nil {
		p.t.Error(err)
	}
	p.send(native.AppendWelcome(nil, &native.Welcome{Version: native.Version,
		HeartbeatMillis: 5000, MaxFrameBytes: frame.MaxBytes, StreamID: stream, NextSequence: 1}))
	return hello
}

// subscribed accepts a subscription from sequence next on.
func (p *peer) subscribed(stream, next uint64) native.Subscribe {
	p.welcome(stream)
	h, body := p.expect(frame.Subscribe)
	s, err := native.ParseSubscribe(h, body)
	if err != nil {
		p.t.Error(err)
	}
	p.send(native.AppendSubscribed(nil, &native.Subscribed{Request: s.Request,
		NextSequence: next, Pattern: s.Pattern}))
	return s
}

// control is the script of a publishing connection that nothing special happens to.
func control(p *peer) {
	p.welcome(streamID)
	p.untilEnd()
}

func data(sequence uint64, payload string) []byte {
	return native.AppendData(nil, &native.Data{Topic: 1, Publisher: 9, Sequence: sequence,
		Time: int64(sequence) * 1000, Payload: []byte(payload)})
}

func topicFrame(id uint32, name string) []byte {
	return native.AppendTopic(nil, &native.Topic{ID: id, Name: []byte(name)})
}

// fast is a Config whose reconnects do not wait.
func fast() Config {
	return Config{Reconnect: Reconnect{Min: time.Millisecond, Max: 2 * time.Millisecond}}
}

func dialTest(t testing.TB, s *server, c Config) *Client {
	t.Helper()
	cl, err := Dial(patient(t), s.address(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cl.Close() })
	return cl
}

func subscribeTest(t testing.TB, c *Client, pattern string) *Subscription {
	t.Helper()
	s, err := c.Subscribe(patient(t), pattern, SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// got is a copy of a message that may be kept.
type got struct {
	Sequence uint64
	Topic    string
	Payload  string
	Gap      ring.Gap
}

func keep(m *Message) got {
	return got{m.Sequence, m.Topic(), string(m.Payload), m.Gap}
}

// collect polls until it has n messages and gaps.
func collect(t testing.TB, s *Subscription, n int) (all []got) {
	t.Helper()
	ctx := patient(t)
	for len(all) < n {
		_, err := s.PollContext(ctx, n-len(all), func(m *Message) { all = append(all, keep(m)) })
		if err != nil {
			t.Fatalf("after %d of %d: %v", len(all), n, err)
		}
	}
	return all
}
