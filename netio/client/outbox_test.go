package client

import (
	"errors"
	"testing"

	"github.com/fantail-io/fantail/ring/frame"
)

// kinds lists the kinds of the frames in a batch.
func kinds(b []byte) (all []frame.Kind) {
	for len(b) > 0 {
		h, _, n, err := frame.Parse(b, frame.MaxBytes)
		if err != nil {
			panic(err)
		}
		all = append(all, h.Kind)
		b = b[n:]
	}
	return all
}

func newTestOutbox(limit int, topics ...string) (*outbox, []*topicAlias) {
	o := newOutbox(limit)
	for i, name := range topics {
		o.topics = append(o.topics, &topicAlias{name: name, alias: uint32(i + 1)})
	}
	return &o, o.topics
}

func equalKinds(a []frame.Kind, b ...frame.Kind) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestOutboxBatches(t *testing.T) {
	o, topics := newTestOutbox(200, "a", "b")
	if !o.publish(topics[0], []byte("x")) || !o.publish(topics[0], []byte("y")) {
		t.Fatal("no room")
	}
	if o.publish(topics[0], make([]byte, 100)) {
		t.Error("a batch over its limit")
	}
	flight := o.take()
	if k := kinds(flight); !equalKinds(k, frame.Topic, frame.Publish, frame.Publish) {
		t.Errorf("%v", k)
	}
	if !o.publish(topics[1], make([]byte, 500)) {
		t.Error("an empty batch takes any message")
	}
	if o.publish(topics[0], nil) {
		t.Error("and nothing more")
	}
	o.put(flight)
	if k := kinds(o.take()); !equalKinds(k, frame.Topic, frame.Publish) {
		t.Errorf("%v", k)
	}
}

// Every so many messages the server is asked what it has, once at a time.
func TestOutboxAsksByItself(t *testing.T) {
	o, topics := newTestOutbox(1<<20, "a")
	fill := func(n int) {
		for range n {
			o.publish(topics[0], nil)
		}
	}
	fill(confirmEvery - 1)
	o.put(o.take())
	if len(o.barriers) != 0 {
		t.Error("asked too early")
	}
	fill(1)
	o.put(o.take())
	fill(2 * confirmEvery)
	o.put(o.take())
	if len(o.barriers) != 1 || o.confirmed != 0 {
		t.Errorf("%d barriers", len(o.barriers))
	}
	o.echo(1)
	if o.confirmed != confirmEvery || len(o.barriers) != 0 {
		t.Errorf("confirmed %d", o.confirmed)
	}
	o.broken(errSilent)
	if o.lost != 2*confirmEvery {
		t.Errorf("lost %d", o.lost)
	}
}

func TestOutboxBroken(t *testing.T) {
	o, topics := newTestOutbox(1<<10, "early", "flying", "filling")
	early, sent, filling := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	o.publish(topics[0], nil)
	o.ask(early)
	o.put(o.take())
	o.echo(1)
	if err := <-early; err != nil {
		t.Error(err)
	}
	o.publish(topics[1], nil)
	o.publish(topics[0], nil)
	o.ask(sent)
	flight := o.take()
	o.publish(topics[2], nil)
	o.ask(filling)
	o.put(flight)
	o.broken(errSilent)
	var lost *LostError
	if err := <-sent; !errors.As(err, &lost) || lost.Messages != 2 {
		t.Errorf("%v", err)
	}
	if o.takeLost() != nil {
		t.Error("a loss is told twice")
	}
	// What is being filled declares its own topic; the connection's start the others.
	if k := kinds(o.preamble(nil)); !equalKinds(k, frame.Topic, frame.Topic) {
		t.Errorf("preamble %v", k)
	}
	if k := kinds(o.take()); !equalKinds(k, frame.Topic, frame.Publish, frame.Heartbeat) {
		t.Errorf("%v", k)
	}
	o.echo(3)
	if err := <-filling; err != nil || o.confirmed != o.accepted {
		t.Errorf("%v, %d of %d", err, o.confirmed, o.accepted)
	}
}

// Who waits for a heartbeat that was not sent yet hears of what was lost before it.
func TestOutboxLossIsToldByALaterBarrier(t *testing.T) {
	o, topics := newTestOutbox(1<<10, "a")
	o.publish(topics[0], nil)
	flight := o.take()
	done := make(chan error, 1)
	o.ask(done)
	o.put(flight)
	o.broken(errSilent)
	o.take()
	o.echo(1)
	if err := <-done; !errors.Is(err, ErrLost) {
		t.Errorf("%v", err)
	}
	again := make(chan error, 1)
	o.ask(again)
	o.forget(again)
	o.fail(ErrClosed)
	select {
	case err := <-again:
		t.Errorf("a forgotten barrier was told %v", err)
	default:
	}
}

// A barrier on a connection that ended with nothing on its way is asked again.
func TestOutboxAsksAgain(t *testing.T) {
	o, _ := newTestOutbox(1<<10, "a")
	done := make(chan error, 1)
	o.ask(done)
	o.put(o.take())
	o.broken(errSilent)
	if err := <-done; err != errAgain {
		t.Errorf("%v", err)
	}
}

// Control frames have room beyond the limit, but not without end.
func TestOutboxIsBounded(t *testing.T) {
	o, topics := newTestOutbox(1<<10, "a")
	for o.publish(topics[0], nil) {
	}
	n := 0
	for ; o.ask(nil); n++ {
		o.reply(1)
	}
	o.reply(1)
	if n == 0 || len(o.fill) > o.limit+slackBytes || cap(o.fill) != o.limit+slackBytes {
		t.Errorf("%d asked, %d bytes of %d", n, len(o.fill), cap(o.fill))
	}
}
