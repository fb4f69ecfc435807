package native

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// testEngine is an engine with 64 blocks of 64 KiB.
func testEngine(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Config{StreamBytes: 4 << 20, BlockBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = e.Close(ctx)
	})
	return e
}

func listen(t testing.TB, e *engine.Engine, c Config) *Listener {
	t.Helper()
	l, err := Listen(e, "tcp", "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		_ = l.Close(ctx)
	})
	return l
}

// peer is a client that speaks frame by frame, and may misbehave.
type peer struct {
	t  testing.TB
	nc *net.TCPConn
	r  *bufio.Reader
}

// connect opens a connection without saying anything.
func connect(t testing.TB, l *Listener) *peer {
	t.Helper()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	if err := nc.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &peer{t: t, nc: nc.(*net.TCPConn), r: bufio.NewReaderSize(nc, 64<<10)}
}

// dial connects and shakes hands.
func dial(t testing.TB, l *Listener) *peer {
	t.Helper()
	p := connect(t, l)
	p.send(native.AppendHello(nil, &native.Hello{Version: native.Version, Name: "test"}))
	h, body := p.next()
	if _, err := native.ParseWelcome(h, body); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *peer) send(b []byte) {
	p.t.Helper()
	if _, err := p.nc.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// read reads one frame.
func (p *peer) read() (frame.Header, []byte, error) {
	head, err := p.r.Peek(8)
	if err != nil {
		return frame.Header{}, nil, err
	}
	length := frame.Get(append(append([]byte(nil), head...), make([]byte, 24)...)).Length
	b := make([]byte, frame.Aligned(int(length)))
	if _, err := io.ReadFull(p.r, b); err != nil {
		return frame.Header{}, nil, err
	}
	h, body, _, err := frame.Parse(b, frame.MaxBytes)
	return h, body, err
}

func (p *peer) next() (frame.Header, []byte) {
	p.t.Helper()
	h, body, err := p.read()
	if err != nil {
		p.t.Fatal(err)
	}
	return h, body
}

// subscribe subscribes and waits until it is in force.
func (p *peer) subscribe(pattern string, policy ring.Policy) {
	p.t.Helper()
	p.send(native.AppendSubscribe(nil, &native.Subscribe{Request: 1, Pattern: []byte(pattern), Policy: policy}))
	for {
		h, body := p.next()
		if h.Kind == frame.Subscribed {
			if _, err := native.ParseSubscribed(h, body); err != nil {
				p.t.Fatal(err)
			}
			return
		}
		if h.Kind == frame.Error {
			e, _ := native.ParseError(h, body)
			p.t.Fatal(e)
		}
	}
}

// sync waits until everything sent was handled.
func (p *peer) sync() {
	p.t.Helper()
	p.send(native.AppendHeartbeat(nil, native.Heartbeat{Sequence: 77}))
	for {
		h, _ := p.next()
		if h.Kind == frame.Heartbeat && h.Sequence == 77 {
			return
		}
	}
}

// refused reads until an ERROR, and checks its code and that the connection then ends.
func (p *peer) refused(want native.Code) {
	p.t.Helper()
	for {
		h, body, err := p.read()
		if err != nil {
			p.t.Errorf("want an ERROR that says %v: %v", want, err)
			return
		}
		if h.Kind != frame.Error {
			continue
		}
		e, err := native.ParseError(h, body)
		if err != nil || e.Code != want {
			p.t.Errorf("ERROR %v, %v; want %v", e, err, want)
		}
		break
	}
	if _, _, err := p.read(); err == nil {
		p.t.Error("a frame after ERROR")
	} else if !errors.Is(err, io.EOF) && !isReset(err) {
		p.t.Errorf("after ERROR: %v", err)
	}
}

func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && !op.Timeout()
}
