package client

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

func TestHandshake(t *testing.T) {
	hello := make(chan native.Hello, 1)
	s := serve(t, func(p *peer) {
		hello <- p.welcome(streamID)
		p.untilEnd()
	})
	c := dialTest(t, s, Config{Name: "quotes-1", Token: []byte("s3cret")})
	h := <-hello
	if h.Version != native.Version || h.Name != "quotes-1" || string(h.Token) != "s3cret" {
		t.Errorf("HELLO %+v", h)
	}
	if c.MaxPayload() != frame.MaxBytes-frame.HeaderBytes {
		t.Errorf("MaxPayload %d", c.MaxPayload())
	}
	if !c.Stats().Connected {
		t.Error("not connected")
	}
}

func TestHandshakeRefused(t *testing.T) {
	refuse := func(e *native.Error) func(p *peer) {
		return func(p *peer) {
			p.expect(frame.Hello)
			p.send(native.AppendError(nil, e))
		}
	}
	say := func(b string) func(p *peer) {
		return func(p *peer) {
			p.expect(frame.Hello)
			p.send([]byte(b))
		}
	}
	for name, c := range map[string]struct {
		script func(p *peer)
		want   error
		text   string
	}{
		"auth":     {refuse(native.Errorf(native.CodeAuth, "wrong token")), native.ErrAuth, "wrong token"},
		"full":     {refuse(native.Errorf(native.CodeTooManyConnections, "")), native.ErrTooManyConnections, ""},
		"version":  {refuse(native.Errorf(native.CodeVersion, "2")), native.ErrVersion, ""},
		"HTTP":     {say("HTTP/1.1 400 Bad Request\r\n"), native.ErrBadHandshake, "HTTP"},
		"garbage":  {say("\xff\xff\xff\xff\xff\xff\xff\xff"), native.ErrFrameTooLarge, ""},
		"closed":   {func(p *peer) { p.expect(frame.Hello) }, ErrConnection, "EOF"},
		"goodbye":  {say(string(native.AppendGoodbye(nil, native.Goodbye{Reason: native.CodeShuttingDown}))), native.ErrShuttingDown, ""},
		"DATA":     {say(string(data(1, "x"))), native.ErrBadHandshake, "DATA"},
		"welcome2": {say(string(native.AppendWelcome(nil, &native.Welcome{Version: 2}))), native.ErrVersion, ""},
		"short":    {say(string(native.AppendGoodbye(nil, native.Goodbye{})[:20])), ErrConnection, "EOF"},
	} {
		s := serve(t, c.script)
		cl, err := Dial(patient(t), s.address(), Config{})
		if cl != nil || !errors.Is(err, c.want) || !errors.Is(err, ErrConnection) ||
			!strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDialTimeout(t *testing.T) {
	s := serve(t, func(p *peer) {
		p.next()
		p.send(native.AppendHeartbeat(nil, native.Heartbeat{})) // alive, and of no use
		p.untilEnd()
	})
	_, err := Dial(patient(t), s.address(), Config{DialTimeout: 20 * time.Millisecond})
	if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, ErrConnection) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if _, err := Dial(ctx, s.address(), Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestDialCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := serve(t, func(p *peer) {
		p.expect(frame.Hello)
		cancel()
		p.untilEnd()
	})
	if _, err := Dial(ctx, s.address(), Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestSubscribeRefused(t *testing.T) {
	for name, c := range map[string]struct {
		script func(p *peer)
		want   error
	}{
		"policy": {func(p *peer) {
			p.welcome(streamID)
			p.expect(frame.Subscribe)
			p.send(native.AppendError(nil, native.Errorf(native.CodePolicy, "no")))
		}, native.ErrPolicy},
		"another request": {func(p *peer) {
			p.welcome(streamID)
			p.expect(frame.Subscribe)
			p.send(native.AppendSubscribed(nil, &native.Subscribed{Request: 7, NextSequence: 1,
				Pattern: []byte("a.>")}))
		}, native.ErrBadHandshake},
		"refused at HELLO": {func(p *peer) {
			p.expect(frame.Hello)
			p.send(native.AppendError(nil, native.Errorf(native.CodeTooManyConnections, "")))
		}, native.ErrTooManyConnections},
	} {
		s := serve(t, control, c.script)
		cl := dialTest(t, s, Config{})
		sub, err := cl.Subscribe(patient(t), "a.>", SubscribeOptions{})
		if sub != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cl := dialTest(t, serve(t, control), Config{})
	_, err := cl.Subscribe(patient(t), "a", SubscribeOptions{
		Policy: ring.Policy{Kind: ring.PolicySpill}})
	if !errors.Is(err, ring.ErrNotSupported) {
		t.Error(err)
	}
	cl.Close()
	if _, err := cl.Subscribe(patient(t), "a", SubscribeOptions{}); err != ErrClosed {
		t.Error(err)
	}
}

func TestSubscribeSaysWhatWasAsked(t *testing.T) {
	asked := make(chan native.Subscribe, 1)
	s := serve(t, control, func(p *peer) {
		sub := p.subscribed(streamID, 1)
		sub.Pattern = append([]byte(nil), sub.Pattern...)
		asked <- sub
		p.untilEnd()
	})
	c := dialTest(t, s, Config{})
	policy := ring.Policy{Kind: ring.PolicyWaitFor, For: 5 * time.Millisecond}
	if _, err := c.Subscribe(patient(t), "a.>", SubscribeOptions{Policy: policy}); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; string(got.Pattern) != "a.>" || got.Policy != policy {
		t.Errorf("%+v", got)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Network: "udp"}, {DialTimeout: time.Hour}, {Token: make([]byte, 257)},
		{Name: strings.Repeat("x", 65)}, {Name: "a\nb"}, {Name: "é"}, {ReadBytes: 1},
		{BatchBytes: -1}, {MaxFrameBytes: 2 << 20}, {HeartbeatTimeout: time.Millisecond},
		{Reconnect: Reconnect{Min: time.Second, Max: time.Millisecond}}, {SocketBytes: -1},
		{Reconnect: Reconnect{MaxAttempts: -1}},
	} {
		if _, err := Dial(patient(t), "127.0.0.1:1", c); err == nil ||
			errors.Is(err, ErrConnection) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Config{{}, {Reconnect: Reconnect{Min: 10 * time.Second}},
		{Reconnect: Reconnect{Max: 10 * time.Millisecond}}} {
		if _, err := c.withDefaults(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
