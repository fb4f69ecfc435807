package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// reader is a subscriber that checks every byte that it gets.
type reader struct {
	link     *link
	policy   ring.Policy
	history  ringtest.History
	names    map[uint32]bool
	sequence uint64 // of the stream, the last one
	slow     func() // called for each message, where it is not nil

	counted atomic.Uint64 // messages and declared losses
	moved   chan struct{} // something was counted
	done    chan struct{}
	code    native.Code // of the ERROR that ended it
	err     error       // that ended it, but io.EOF
}

// newReader subscribes. Start its run with start.
func newReader(address, pattern string, policy ring.Policy) (*reader, error) {
	k, err := dialLink(address)
	if err != nil {
		return nil, err
	}
	r := &reader{link: k, policy: policy, names: make(map[uint32]bool),
		moved: make(chan struct{}, 1), done: make(chan struct{})}
	r.history.LateGaps = r.stashed()
	if err := k.subscribe(pattern, policy); err != nil {
		k.nc.Close()
		return nil, err
	}
	return r, nil
}

// stashed reports whether the policy keeps copies: its gaps come late.
func (r *reader) stashed() bool {
	return r.policy.Kind == ring.PolicyDropNewest || r.policy.Kind == ring.PolicyConflate
}

// run reads until the connection ends, or something is wrong.
func (r *reader) run() {
	defer close(r.done)
	for {
		h, body, err := r.link.read()
		if err == nil {
			err = r.take(h, body)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				r.err = err
			}
			return
		}
	}
}

func (r *reader) take(h frame.Header, body []byte) error {
	if r.code != native.CodeNone {
		return fmt.Errorf("%s after ERROR %v", native.KindName(h.Kind), r.code)
	}
	switch h.Kind {
	case frame.Data:
		return r.data(h, body)
	case frame.Gap:
		g, err := native.ParseGap(h, body)
		if err != nil {
			return err
		}
		r.history.Gap(g.Count)
		r.count(g.Count)
	case frame.Topic:
		t, err := native.ParseTopic(h, body)
		if err != nil {
			return err
		}
		r.names[t.ID] = true
	case frame.Heartbeat:
		b, err := native.ParseHeartbeat(h, body)
		if err != nil {
			return err
		}
		if !b.Reply {
			return r.link.write(native.AppendHeartbeat(nil, native.Heartbeat{Sequence: b.Sequence, Reply: true}))
		}
	case frame.Error:
		e, err := native.ParseError(h, body)
		if err != nil {
			return err
		}
		r.code = e.Code
	case frame.Subscribed, frame.Goodbye:
	default:
		return fmt.Errorf("%s where a subscriber reads", native.KindName(h.Kind))
	}
	return nil
}

func (r *reader) data(h frame.Header, body []byte) error {
	p, err := ringtest.CheckPayload(body)
	if err != nil {
		return fmt.Errorf("sequence %d: %w", h.Sequence, err)
	}
	if !r.names[h.Topic] {
		return fmt.Errorf("topic %d: %w", h.Topic, errNoName)
	}
	if h.Sequence <= r.sequence && r.policy.Kind != ring.PolicyConflate {
		return fmt.Errorf("sequence %d of the stream after %d", h.Sequence, r.sequence)
	}
	r.sequence = h.Sequence
	if err := r.history.Observe(p); err != nil {
		return err
	}
	r.count(1)
	if r.slow != nil {
		r.slow()
	}
	return nil
}

func (r *reader) count(n uint64) {
	r.counted.Add(n)
	select {
	case r.moved <- struct{}{}:
	default:
	}
}

// await waits until messages and losses add up to total.
func (r *reader) await(ctx context.Context, total uint64) error {
	for r.counted.Load() < total {
		select {
		case <-r.moved:
		case <-r.done:
			if n := r.counted.Load(); n < total {
				return fmt.Errorf("ended with %d of %d messages: ERROR %v: %v", n, total, r.code, r.err)
			}
		case <-ctx.Done():
			return fmt.Errorf("%d of %d messages came: %w", r.counted.Load(), total, ctx.Err())
		}
	}
	return nil
}

// stop ends the connection and waits for run.
func (r *reader) stop() {
	r.link.nc.Close()
	<-r.done
}

// startReader is newReader and run, in a test.
func startReader(t testing.TB, l *Listener, pattern string, policy ring.Policy) *reader {
	t.Helper()
	r, err := newReader(l.Addr().String(), pattern, policy)
	if err != nil {
		t.Fatal(err)
	}
	go r.run()
	t.Cleanup(r.stop)
	return r
}

// complete waits for all messages and checks the account. losses says whether any may be.
func (r *reader) complete(t testing.TB, want map[uint32]uint64, losses bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	total := uint64(0)
	for _, n := range want {
		total += n
	}
	if err := r.await(ctx, total); err != nil {
		t.Errorf("%v: %v", r.policy.Kind, err)
		return
	}
	r.stop()
	if err := r.history.Done(want); err != nil {
		t.Errorf("%v: %v", r.policy.Kind, err)
	}
	if lost := r.history.Lost(); lost > 0 && !losses {
		t.Errorf("%v: %d messages lost", r.policy.Kind, lost)
	}
}

// startSource is newSource in a test.
func startSource(t testing.TB, l *Listener, topic string, number uint32, least, spread int) *source {
	t.Helper()
	s, err := newSource(l.Addr().String(), topic, number, least, spread)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.link.nc.Close() })
	return s
}

// wait is the policy that loses nothing.
var waitPolicy = ring.Policy{Kind: ring.PolicyWait}

// pair is a publisher and a subscriber that work all through an attack and lose nothing.
type pair struct {
	t      testing.TB
	reader *reader
	source *source
	stop   chan struct{}
	ended  chan error
}

// startPair starts an innocent pair on a topic of its own.
func startPair(t testing.TB, l *Listener, number uint32) *pair {
	t.Helper()
	topic := fmt.Sprintf("innocent.%d", number)
	p := &pair{t: t, reader: startReader(t, l, topic, waitPolicy),
		source: startSource(t, l, topic, number, 64, 512),
		stop:   make(chan struct{}), ended: make(chan error, 1)}
	go func() {
		for {
			select {
			case <-p.stop:
				p.ended <- p.source.sync()
				return
			default:
			}
			err := p.source.publish(50)
			if err == nil && raceEnabled { // slow enough without filling every buffer
				err = p.source.sync()
			}
			if err != nil {
				p.ended <- err
				return
			}
		}
	}()
	return p
}

// finish ends the pair, which must have lost nothing, and answers its messages.
func (p *pair) finish() uint64 {
	p.t.Helper()
	close(p.stop)
	if err := <-p.ended; err != nil {
		p.t.Errorf("innocent publisher: %v", err)
		return 0
	}
	n := p.source.next.Sequence
	p.reader.complete(p.t, map[uint32]uint64{p.source.next.Publisher: n}, false)
	p.source.link.nc.Close()
	return n
}
