package client

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
)

// once is the script of a subscription that gets b and is cut off.
func once(stream, next uint64, b []byte) func(p *peer) {
	return func(p *peer) {
		p.subscribed(stream, next)
		p.send(b)
	}
}

func TestReconnect(t *testing.T) {
	partial := append(data(10, "x"), data(11, "never whole")[:40]...)
	c := dialTest(t, serve(t, control,
		once(streamID, 10, partial),
		once(streamID, 21, data(21, "y")),
		once(streamID, 22, data(22, "z")), // nothing was missed
		once(99, 3, data(3, "new")),       // the server has started anew
		sending(nil)), fast())
	s := subscribeTest(t, c, ">")
	want := []got{
		{10, "", "x", Gap{}},
		{11, "", "", Gap{First: 11, Last: 20, Count: 10, Reason: ring.GapReconnect}},
		{21, "", "y", Gap{}},
		{22, "", "z", Gap{}},
		{0, "", "", Gap{Reason: ring.GapReconnect}},
		{3, "", "new", Gap{}},
	}
	all := collect(t, s, len(want))
	for i := range want {
		if all[i] != want[i] {
			t.Errorf("%d: %+v, want %+v", i, all[i], want[i])
		}
	}
	if st := s.Stats(); st.Missed != 10 || st.Gaps != 2 || st.Messages != 4 || st.Reconnects < 3 {
		t.Errorf("%+v", st)
	}
}

// While there is no connection Poll answers 0, and Close and contexts end a wait.
func TestDisconnected(t *testing.T) {
	config := Config{Reconnect: Reconnect{Min: time.Minute, Max: time.Hour}}
	c := dialTest(t, serve(t, control, once(streamID, 1, data(1, "x"))), config)
	s := subscribeTest(t, c, ">")
	collect(t, s, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if n, err := s.PollContext(ctx, 1, nil); n != 0 || err != context.DeadlineExceeded {
		t.Errorf("%d, %v", n, err)
	}
	for s.socket != nil {
		if n, err := s.Poll(1, nil); n != 0 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if n, err := s.Poll(1, nil); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	done := make(chan error)
	go func() {
		_, err := s.PollContext(context.Background(), 1, nil)
		done <- err
	}()
	s.Close()
	if err := <-done; err != ErrClosed {
		t.Errorf("%v", err)
	}
}

// What cannot be mended ends the subscription, with the reason.
func TestEnd(t *testing.T) {
	slow := append(data(1, "x"), native.AppendError(nil,
		native.Errorf(native.CodeSlowConsumer, "9 messages behind"))...)
	disabled := fast()
	disabled.Reconnect.Disabled = true
	twice := fast()
	twice.Reconnect.MaxAttempts = 2
	refuse := func(p *peer) {
		p.welcome(streamID)
		p.send(native.AppendError(nil, native.Errorf(native.CodeShuttingDown, "")))
	}
	auth := func(p *peer) { p.send(native.AppendError(nil, native.Errorf(native.CodeAuth, ""))) }
	for name, c := range map[string]struct {
		config  Config
		scripts []func(p *peer)
		want    error
	}{
		"slow consumer": {fast(), []func(p *peer){control, once(streamID, 1, slow)},
			native.ErrSlowConsumer},
		"disabled": {disabled, []func(p *peer){control, once(streamID, 1, data(1, "x"))},
			ErrConnection},
		"attempts": {twice, []func(p *peer){control, once(streamID, 1, data(1, "x")), refuse},
			native.ErrShuttingDown},
		"refused": {fast(), []func(p *peer){control, once(streamID, 1, data(1, "x")), auth},
			native.ErrAuth},
	} {
		cl := dialTest(t, serve(t, c.scripts...), c.config)
		s := subscribeTest(t, cl, ">")
		collect(t, s, 1)
		for range 2 { // it does not change its mind
			if n, err := s.PollContext(patient(t), 1, nil); n != 0 || !errors.Is(err, c.want) {
				t.Errorf("%s: %d, %v", name, n, err)
			}
			if n, err := s.Poll(1, nil); n != 0 || !errors.Is(err, c.want) {
				t.Errorf("%s: %d, %v", name, n, err)
			}
		}
		s.Close()
		if _, err := s.Poll(1, nil); err != ErrClosed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPauses(t *testing.T) {
	c := Config{Reconnect: Reconnect{Min: 100 * time.Millisecond, Max: time.Second}}
	d := dialer{config: &c}
	now := time.Unix(1000, 0)
	d.since = now
	limits := []time.Duration{100, 200, 400, 800, 1000, 1000}
	for i, limit := range limits {
		limit *= time.Millisecond
		if pause := d.pauseBefore(now); pause > limit || pause < limit/2-1 {
			t.Errorf("pause %d is %v, outside half of %v", i, pause, limit)
		}
	}
	if pause := d.pauseBefore(now.Add(2 * time.Second)); pause > 100*time.Millisecond {
		t.Errorf("after a connection that lasted: %v", pause)
	}
}

func TestSilenceStates(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1000, int64(ms)*1e6) }
	s := silence{timeout: 100 * time.Millisecond, heard: at(0)}
	for _, c := range []struct {
		ms   int
		ask  bool
		dead bool
	}{{10, false, false}, {49, false, false}, {60, true, false}, {70, false, false},
		{109, false, false}, {110, false, true}} {
		ask, err := s.check(at(c.ms))
		if ask != c.ask || (err != nil) != c.dead {
			t.Errorf("at %d ms: %v, %v", c.ms, ask, err)
		}
	}
	s.hear(at(120))
	if ask, err := s.check(at(169)); ask || err != nil || !s.next().Equal(at(170)) {
		t.Errorf("after it was heard: %v, %v", ask, err)
	}
	if !s.deadline(at(500)).Equal(at(501)) {
		t.Error("a deadline in the past")
	}
}
