package client

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring/frame"
)

// After a connection was lost the aliases are declared anew, what was not on its way is
// sent, and a Flush says what may be lost, once.
func TestPublisherReconnects(t *testing.T) {
	var k keeper
	gone := make(chan struct{})
	c := dialTest(t, serve(t, func(p *peer) {
		p.welcome(streamID)
		p.expect(frame.Topic)
		p.expect(frame.Publish)
		close(gone)
	}, k.script), fast())
	p := publisherTest(t, c, "a")
	if err := p.Publish([]byte("lost")); err != nil {
		t.Fatal(err)
	}
	<-gone
	var lost *LostError
	if err := c.Flush(patient(t)); !errors.As(err, &lost) || lost.Messages != 1 ||
		!errors.Is(err, ErrLost) || !errors.Is(err, ErrConnection) {
		t.Fatalf("%v", err)
	}
	if err := p.Publish([]byte("kept")); err != nil {
		t.Fatal(err)
	}
	if err := publisherTest(t, c, "b").Publish([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(patient(t)); err != nil {
		t.Fatal(err)
	}
	if all := k.take(); !reflect.DeepEqual(all, []published{{"a", 2, "kept"}, {"b", 1, "new"}}) {
		t.Errorf("%v", all)
	}
	if st := c.Stats(); st.Reconnects != 1 || st.Published != 3 {
		t.Errorf("%+v", st)
	}
}

// What cannot be mended ends the client, with the reason.
func TestPublisherEnds(t *testing.T) {
	s := serve(t, func(p *peer) {
		p.welcome(streamID)
		p.expect(frame.Topic)
		p.send(native.AppendError(nil, native.Errorf(native.CodeTooManyTopics, "enough")))
		p.untilEnd()
	})
	c := dialTest(t, s, fast())
	p := publisherTest(t, c, "a")
	if err := p.Publish(nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(patient(t)); !errors.Is(err, native.ErrTooManyTopics) {
		t.Errorf("%v", err)
	}
	<-c.ended
	if err := p.Publish(nil); !errors.Is(err, native.ErrTooManyTopics) {
		t.Errorf("%v", err)
	}
	if _, err := c.Subscribe(patient(t), "a", SubscribeOptions{}); err == nil {
		t.Error("a subscription of an ended client")
	}
	c.Close()
	if err := p.Publish(nil); err != ErrClosed {
		t.Errorf("%v", err)
	}
}

// The server's heartbeats are answered, and a silent server is asked, then given up.
func TestPublisherHeartbeats(t *testing.T) {
	asked := make(chan bool, 1)
	config := fast()
	config.HeartbeatTimeout = minHeartbeatTimeout
	c := dialTest(t, serve(t, func(p *peer) {
		p.welcome(streamID)
		p.send(native.AppendHeartbeat(nil, native.Heartbeat{Sequence: 5}))
		h, _, _ := p.next()
		if h.Sequence != 5 || h.Flags != native.FlagReply {
			p.t.Errorf("%+v", h)
		}
		h, _, _ = p.next()
		asked <- h.Kind == frame.Heartbeat && h.Sequence != 0 && h.Flags == 0
		for ok := true; ok; {
			_, _, ok = p.next()
		}
	}, control), config)
	if !<-asked {
		t.Error("the server was not asked for an echo")
	}
	if err := c.Flush(patient(t)); err != nil {
		t.Error(err)
	}
	if st := c.Stats(); st.Reconnects == 0 {
		t.Errorf("%+v", st)
	}
}

func TestFlushCancelled(t *testing.T) {
	c := dialTest(t, serve(t, func(p *peer) {
		p.welcome(streamID)
		for ok := true; ok; {
			_, _, ok = p.next()
		}
	}), Config{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := c.Flush(ctx); err != context.DeadlineExceeded {
		t.Errorf("%v", err)
	}
}

// Close is bounded where the server takes nothing more, and says what may be lost.
func TestCloseOfStuckServer(t *testing.T) {
	release := make(chan struct{})
	c, err := Dial(patient(t), serve(t, func(p *peer) {
		p.welcome(streamID)
		<-release
	}).address(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer close(release)
	p := publisherTest(t, c, "a")
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		err := p.PublishContext(ctx, make([]byte, 60_000))
		cancel()
		if err != nil {
			break
		}
	}
	if err := c.Close(); !errors.Is(err, ErrLost) {
		t.Errorf("%v", err)
	}
}
