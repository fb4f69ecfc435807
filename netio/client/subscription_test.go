package client

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// sending is the script of a subscription that gets b, and then nothing.
func sending(b []byte) func(p *peer) {
	return func(p *peer) {
		p.subscribed(streamID, 1)
		p.send(b)
		p.untilEnd()
	}
}

func TestSubscription(t *testing.T) {
	stream, want := sample()
	c := dialTest(t, serve(t, control, sending(stream)), Config{})
	s := subscribeTest(t, c, "eu.>")
	if all := collect(t, s, len(want)); !reflect.DeepEqual(all, want) {
		t.Errorf("%v", all)
	}
	if n, err := s.Poll(10, nil); n != 0 || err != nil {
		t.Errorf("Poll of nothing = %d, %v", n, err)
	}
	st := s.Stats()
	if st.Messages != 7 || st.Gaps != 1 || st.Missed != 2 || st.Bytes != uint64(len(stream)) {
		t.Errorf("%+v", st)
	}
	if s.Pattern() != "eu.>" {
		t.Error(s.Pattern())
	}
}

// A limit leaves the rest for the next Poll, with one read for both.
func TestPollLimit(t *testing.T) {
	stream, want := sample()
	c := dialTest(t, serve(t, control, sending(stream)), Config{})
	s := subscribeTest(t, c, "eu.>")
	var all []got
	for len(all) < len(want) {
		n, err := s.PollContext(patient(t), 1, func(m *Message) { all = append(all, keep(m)) })
		if n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%v", all)
	}
	if n, err := s.PollContext(patient(t), 0, nil); n != 0 || err != nil {
		t.Errorf("limit 0: %d, %v", n, err)
	}
}

// Messages that are longer than the read buffer make it grow, up to the limit.
func TestLongMessages(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	var stream []byte
	for i := range uint64(5) {
		stream = append(stream, data(2*i+1, long)...)
		stream = append(stream, data(2*i+2, "short")...)
	}
	c := dialTest(t, serve(t, control, sending(stream)), Config{ReadBytes: 4 << 10})
	all := collect(t, subscribeTest(t, c, ">"), 10)
	for i, m := range all {
		if m.Sequence != uint64(i+1) || i%2 == 0 && m.Payload != long {
			t.Errorf("%d: sequence %d, %d bytes", i, m.Sequence, len(m.Payload))
		}
	}
	c = dialTest(t, serve(t, control, sending(stream)), Config{MaxFrameBytes: 64 << 10})
	_, err := subscribeTest(t, c, ">").PollContext(patient(t), 1, nil)
	if !errors.Is(err, native.ErrFrameTooLarge) {
		t.Errorf("%v", err)
	}
}

func TestMessages(t *testing.T) {
	stream, want := sample()
	c := dialTest(t, serve(t, control, sending(stream)), Config{})
	s := subscribeTest(t, c, "eu.>")
	var all []got
	for m, err := range s.Messages(patient(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, keep(m)); len(all) == 3 {
			break
		}
	}
	ctx, cancel := context.WithCancel(patient(t))
	defer cancel()
	for m, err := range s.Messages(ctx) { // what the first loop did not take is still there
		if err != nil {
			if err != context.Canceled {
				t.Error(err)
			}
			break
		}
		if all = append(all, keep(m)); len(all) == len(want) {
			cancel()
		}
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%v", all)
	}
}

func TestPollContextCancelled(t *testing.T) {
	c := dialTest(t, serve(t, control, sending(nil)), Config{})
	s := subscribeTest(t, c, ">")
	for range 3 { // each with another context, and a deadline left behind by the last
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if n, err := s.PollContext(ctx, 1, nil); n != 0 || err != context.DeadlineExceeded {
			t.Errorf("%d, %v", n, err)
		}
		cancel()
		if n, err := s.Poll(1, nil); n != 0 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
}

func TestCloseEndsPollContext(t *testing.T) {
	c := dialTest(t, serve(t, control, sending(data(1, "x"))), Config{})
	s := subscribeTest(t, c, ">")
	collect(t, s, 1)
	done := make(chan error)
	go func() {
		_, err := s.PollContext(context.Background(), 1, nil)
		done <- err
	}()
	s.Close()
	s.Close()
	if err := <-done; err != ErrClosed {
		t.Errorf("%v", err)
	}
	if _, err := s.Poll(1, nil); err != ErrClosed {
		t.Errorf("%v", err)
	}
}

func TestCloseWithinPoll(t *testing.T) {
	stream, _ := sample()
	c := dialTest(t, serve(t, control, sending(stream)), Config{})
	s := subscribeTest(t, c, ">")
	n, err := s.PollContext(patient(t), 10, func(*Message) { s.Close() })
	if n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := s.Poll(1, nil); err != ErrClosed {
		t.Errorf("%v", err)
	}
}

func TestCloseOfClientClosesSubscriptions(t *testing.T) {
	c := dialTest(t, serve(t, control, sending(nil)), Config{})
	s := subscribeTest(t, c, ">")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.PollContext(patient(t), 1, nil); err != ErrClosed {
		t.Errorf("%v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestServersHeartbeatIsAnswered(t *testing.T) {
	echo := make(chan frame.Header, 1)
	c := dialTest(t, serve(t, control, func(p *peer) {
		p.subscribed(streamID, 1)
		p.send(native.AppendHeartbeat(nil, native.Heartbeat{Sequence: 77}))
		h, _, _ := p.next()
		echo <- h
		p.send(data(1, "x"))
		p.untilEnd()
	}), Config{})
	s := subscribeTest(t, c, ">")
	collect(t, s, 1)
	if h := <-echo; h.Kind != frame.Heartbeat || h.Sequence != 77 || h.Flags != native.FlagReply {
		t.Errorf("%+v", h)
	}
}

// A server that says nothing is asked, and then taken for dead.
func TestSilence(t *testing.T) {
	asked := make(chan bool, 2)
	silent := func(p *peer) {
		p.subscribed(streamID, 1)
		for {
			h, _, ok := p.next()
			if !ok {
				return
			}
			asked <- h.Kind == frame.Heartbeat && h.Sequence != 0
		}
	}
	heard := func(p *peer) {
		p.subscribed(streamID, 5)
		p.send(data(5, "x"))
		p.untilEnd()
	}
	config := fast()
	config.HeartbeatTimeout = minHeartbeatTimeout
	c := dialTest(t, serve(t, control, silent, heard), config)
	s := subscribeTest(t, c, ">")
	all := collect(t, s, 2)
	if !all[0].isReconnect() || all[1].Sequence != 5 || !<-asked {
		t.Errorf("%+v", all)
	}
}

func (g got) isReconnect() bool { return g.Gap.Reason == ring.GapReconnect }

// A server that answers when it is asked is not taken for dead.
func TestSilenceIsBroken(t *testing.T) {
	config := fast()
	config.HeartbeatTimeout = minHeartbeatTimeout
	c := dialTest(t, serve(t, control, func(p *peer) {
		p.subscribed(streamID, 1)
		for range 3 {
			h, _, _ := p.next()
			p.echo(h)
		}
		p.send(data(1, "x"))
		p.untilEnd()
	}), config)
	s := subscribeTest(t, c, ">")
	if all := collect(t, s, 1); all[0].Sequence != 1 {
		t.Errorf("%+v", all)
	}
	if st := s.Stats(); st.Reconnects != 0 {
		t.Errorf("%+v", st)
	}
}
