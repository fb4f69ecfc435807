package client

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/counter"
)

// SubscribeOptions say how a subscription is served.
type SubscribeOptions struct {
	// Policy is what the server does when the subscriber is slow. Zero: its default.
	Policy ring.Policy
}

// Subscription delivers the messages of the topics that match a pattern to the goroutine
// that polls it, one at a time. It has a connection of its own, which it makes again when
// it is lost. Poll it every few seconds at least: the server takes a subscriber that does
// not answer its heartbeats for dead, and Poll is what answers them.
type Subscription struct {
	client  *Client
	request native.Subscribe
	dialer  dialer // Subscribe's, then of the one goroutine that reconnects
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	state   atomic.Uint32 // see subOpen
	changed chan struct{} // capacity 1: mu.fresh or mu.err was set

	// The polling goroutine's.
	decoder decoder
	quiet   silence
	socket  socket // nil while there is no connection
	stream  uint64 // the server's StreamID
	streams int    // connections so far
	buf     []byte
	watch   watch
	onDone  func() // interrupt, made once
	member  member // where it is in a group

	mu struct {
		sync.Mutex
		socket waiter // what Close has to close; nil where a group does
		fresh  *link  // a new connection that the polling goroutine has not taken yet
		err    error  // the end
		group  *Group
	}

	_          counter.Pad
	messages   counter.Counter
	bytes      counter.Counter
	gaps       counter.Counter
	missed     counter.Counter
	reconnects counter.Counter
	_          counter.Pad
}

// SubscriptionStats are figures of a subscription, counted since its start.
type SubscriptionStats struct {
	Messages   uint64 // delivered, gaps not counted
	Bytes      uint64 // read, headers included
	Gaps       uint64 // delivered
	Missed     uint64 // messages that gaps stood for, as far as that is known
	Reconnects uint64 // connections made again
}

const (
	subOpen    uint32 = iota
	subGrouped        // polled by a group
	subClosed
)

// Subscribe asks for the messages of the topics that match pattern: tokens separated by
// dots, where * stands for one token and a last > for one or more. It answers once the
// server has accepted, and covers what is published from then on. ctx and
// Config.DialTimeout bound how long that may take. Close the subscription when done.
func (c *Client) Subscribe(ctx context.Context, pattern string, o SubscribeOptions) (*Subscription,
	error) {
	if err := o.Policy.Check(); err != nil {
		return nil, fmt.Errorf("client: subscribe to %s: %w", pattern, err)
	}
	s := &Subscription{client: c, changed: make(chan struct{}, 1),
		request: native.Subscribe{Request: 1, Pattern: []byte(pattern), Policy: o.Policy},
		decoder: newDecoder(c.config.MaxFrameBytes)}
	s.dialer = dialer{address: c.address, config: &c.config, request: &s.request}
	s.onDone = s.interrupt
	c.mu.Lock()
	err := c.closedLocked()
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	l, err := s.dialer.first(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.fresh = l
	s.ctx, s.cancel = context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closing {
		s.cancel()
		l.rest()
		l.conn.Close()
		return nil, ErrClosed
	}
	c.mu.subs[s] = struct{}{}
	return s, nil
}

// Pattern is what the subscription was made with.
func (s *Subscription) Pattern() string { return string(s.request.Pattern) }

// Stats answers the subscription's figures; any goroutine may ask.
func (s *Subscription) Stats() SubscriptionStats {
	return SubscriptionStats{Messages: s.messages.Load(), Bytes: s.bytes.Load(),
		Gaps: s.gaps.Load(), Missed: s.missed.Load(), Reconnects: s.reconnects.Load()}
}

// Poll hands up to limit messages and gaps to fn, in order, and answers how many. It never
// waits: 0 says that there is nothing now, or no connection for the moment. fn must not
// call Poll. After the end it answers ErrClosed, or why the server or the network ended the
// subscription: native.ErrSlowConsumer, ErrConnection.
func (s *Subscription) Poll(limit int, fn func(*Message)) (int, error) {
	return s.poll(s.ctx, false, limit, fn)
}

// PollContext is Poll that waits for the first message until ctx is done.
func (s *Subscription) PollContext(ctx context.Context, limit int, fn func(*Message)) (int, error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		s.watch.on(ctx, s.onDone)
		n, err := s.poll(ctx, true, limit, fn)
		if n > 0 || err != nil || limit < 1 {
			return n, err
		}
		if s.socket == nil {
			select {
			case <-s.changed:
			case <-ctx.Done():
			case <-s.ctx.Done():
			}
		}
	}
}

// Messages ranges over messages and gaps as they come. A message is valid until the loop's
// next turn. It ends with an error, as PollContext's.
func (s *Subscription) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		more := true
		one := func(m *Message) { more = yield(m, nil) }
		for more {
			if _, err := s.PollContext(ctx, 1, one); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// interrupt ends a wait of the polling goroutine.
func (s *Subscription) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.socket != nil {
		s.mu.socket.setReadDeadline(past)
	}
}

// poll delivers what is there, and where that is nothing may wait once.
func (s *Subscription) poll(ctx context.Context, wait bool, limit int, fn func(*Message)) (n int,
	err error) {
	for n < limit {
		if s.socket == nil || s.state.Load() != subOpen {
			if err := s.attach(subOpen); err != nil {
				if n > 0 {
					err = nil // it comes again
				}
				return n, err
			}
			if s.socket == nil {
				return n, nil
			}
		}
		n += s.deliver(limit-n, fn)
		if s.decoder.end != nil {
			s.broken(s.decoder.end)
			continue
		}
		if n == limit {
			break
		}
		got, err := s.fill(ctx, wait && n == 0)
		if err != nil {
			s.broken(err)
			continue
		}
		if got == 0 {
			break
		}
	}
	return n, nil
}

// deliver hands on what is in the buffer, and sends the answers that it calls for.
func (s *Subscription) deliver(limit int, fn func(*Message)) int {
	d := &s.decoder
	n, before := 0, len(d.rest)
	for n < limit && s.state.Load() != subClosed && d.next() {
		if d.message.Gap.Reason != ring.GapNone {
			s.countGap(d.message.Gap)
		}
		fn(&d.message)
		n++
	}
	s.count(before)
	return n
}

// count adds to the figures after decoder.rest had before bytes.
func (s *Subscription) count(before int) {
	d := &s.decoder
	s.messages.Add(d.seen)
	s.bytes.Add(uint64(before - len(d.rest)))
	d.seen = 0
	s.answer()
}

func (s *Subscription) countGap(g Gap) {
	s.gaps.Inc()
	s.missed.Add(g.Count)
}

// answer sends what the decoder wants to be sent, as far as there is room.
func (s *Subscription) answer() {
	if d := &s.decoder; len(d.out) > 0 && s.socket != nil {
		n, _ := s.socket.write(d.out) // a read will tell of errors
		d.out = d.out[:copy(d.out, d.out[n:])]
	}
}
