package engine

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/fantail-io/fantail/engine/topic"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/counter"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/wait"
)

// Message is a view of one message, or a gap. It is valid until the function that was
// handed it returns, and so is a copy's Payload. It is handed on by pointer because copying
// it would cost more than reading it.
type Message struct {
	// Sequence is the message's number in the stream, from 1. Sequences increase; they skip
	// messages that the pattern does not match, and claims that were aborted.
	Sequence uint64
	// Time is when it was published, in nanoseconds since the Unix epoch.
	Time int64
	// TopicID is the topic's number in this engine; Topic has its name.
	TopicID uint32
	// Publisher is the number of the publisher that published it.
	Publisher uint32
	// Payload is the message's content. Gaps have none.
	Payload []byte
	// Gap says which messages will not come, where Gap.Reason is not ring.GapNone.
	Gap Gap

	topics *topic.Registry
}

// Topic is the topic's name.
func (m *Message) Topic() string {
	if m.topics == nil || m.TopicID == 0 {
		return ""
	}
	return m.topics.Name(m.TopicID)
}

// IsGap reports whether the message stands for others that will not come.
func (m *Message) IsGap() bool { return m.Gap.Reason != ring.GapNone }

// SubscribeOptions say how a subscription is served.
type SubscribeOptions struct {
	// Policy is what happens when the subscriber is slow. Zero: DropOldest(0).
	Policy Policy
	// Wait is what PollContext and Messages do while there is nothing to read.
	Wait wait.Strategy
}

// Subscription delivers the messages of the topics that match a pattern, to a goroutine
// that asks for them.
type Subscription struct {
	engine  *Engine
	pattern topic.Pattern
	policy  Policy
	idler   wait.Idler
	message Message       // what fn is handed
	state   atomic.Uint32 // see states
	polling atomic.Bool   // a Poll is under way: what the subscription holds is in use
	topics  *topic.Registry

	follower *ring.Follower // of a subscription that reads the stream itself
	verdicts []uint8        // by topic number: 0 not asked yet, 1 matches, 2 does not
	queue    *feedQueue     // of one that the dispatcher feeds
	sleeper  *wait.Sleeper  // made when PollContext first has to sleep

	_        counter.Pad
	messages counter.Counter
	bytes    counter.Counter
	waits    counter.Counter
	dropped  [ring.GapReasons]counter.Counter
	lag      counter.Max
	_        counter.Pad
}

const (
	subOpen uint32 = iota
	subClosed
	subSlow
)

const (
	verdictYes = 1
	verdictNo  = 2
)

// Subscribe makes a subscription to the topics that match pattern: tokens separated by
// dots, where * stands for one token and a last > for one or more. It sees the messages
// that are claimed from now on. Close it when done.
func (e *Engine) Subscribe(pattern string, o SubscribeOptions) (*Subscription, error) {
	p, err := topic.ParsePattern(pattern)
	if err != nil {
		return nil, fmt.Errorf("engine: subscribe: %w", err)
	}
	if o.Policy.Kind == ring.PolicyDefault {
		o.Policy.Kind = ring.PolicyDropOldest
	}
	if err := o.Policy.Check(); err != nil {
		return nil, fmt.Errorf("engine: subscribe to %s: %w", pattern, err)
	}
	s := &Subscription{engine: e, pattern: p, policy: o.Policy, topics: e.topics,
		idler: wait.Idler{Strategy: o.Wait}, message: Message{topics: e.topics}}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return nil, ErrClosed
	}
	if len(e.mu.subscriptions) >= e.config.MaxSubscriptions {
		return nil, fmt.Errorf("%w subscriptions: the limit is %d", ErrTooMany,
			e.config.MaxSubscriptions)
	}
	switch o.Policy.Kind {
	case ring.PolicyWait:
		s.follower = e.stream.Follow(ring.FollowOptions{})
	case ring.PolicyWaitFor:
		s.follower = e.stream.Follow(ring.FollowOptions{Patience: o.Policy.For})
	case ring.PolicyDropOldest, ring.PolicyDisconnect:
		s.follower = e.stream.Follow(ring.FollowOptions{Lossy: true})
	default:
		s.queue = newFeedQueue(s)
		e.feed(s)
	}
	e.mu.subscriptions[s] = struct{}{}
	return s, nil
}

// Pattern is what the subscription was made with.
func (s *Subscription) Pattern() string { return s.pattern.String() }

func (s *Subscription) closed() bool { return s.state.Load() != subOpen }

// err is what a subscription that has ended answers.
func (s *Subscription) err() error {
	if s.state.Load() == subSlow {
		return ErrSlowConsumer
	}
	return ErrClosed
}

// Poll hands up to limit messages and gaps to fn, in order, and answers how many. It never
// waits: 0 says that there is nothing now. fn must not call Poll.
func (s *Subscription) Poll(limit int, fn func(*Message)) (int, error) {
	s.enter()
	n, err := s.poll(limit, fn)
	s.leave()
	return n, err
}

// enter and leave surround all that reads the stream. A Close from another goroutine must not
// let the stream reuse, or unmap, what fn is looking at: it leaves that to leave.
func (s *Subscription) enter() { s.polling.Store(true) } // pairs(polling): then state is read

func (s *Subscription) leave() {
	s.polling.Store(false) // pairs(polling): then state is read
	if s.closed() {
		s.release()
	}
}

// poll is Poll between enter and leave.
func (s *Subscription) poll(limit int, fn func(*Message)) (int, error) {
	if s.closed() {
		return 0, s.err()
	}
	if s.queue != nil {
		return s.queue.poll(limit, fn), nil
	}
	n := 0
	f := s.follower
	if gap := f.Acquire(); gap.Count > 0 {
		if s.policy.Kind == ring.PolicyDisconnect {
			s.end(ErrSlowConsumer)
			return 0, ErrSlowConsumer
		}
		n += s.gap(gap, fn)
	}
	if s.policy.MaxLag > 0 {
		skipped, err := s.shorten(fn)
		if err != nil {
			return 0, err
		}
		n += skipped
	}
	var bytes uint64
	delivered := 0
	for n < limit {
		m, ok := f.Read()
		if !ok {
			break
		}
		if int(m.Topic) >= len(s.verdicts) || s.verdicts[m.Topic] != verdictYes {
			if !s.matches(m.Topic) {
				continue
			}
		}
		view := m.Block.Bytes(m.Offset, m.Length)
		s.deliver(view, fn)
		bytes += uint64(m.Length - frame.HeaderBytes)
		delivered++
		n++
	}
	f.Release()
	if delivered > 0 {
		s.messages.Add(uint64(delivered))
		s.bytes.Add(bytes)
	}
	return n, nil
}

// deliver hands out the message in a frame.
func (s *Subscription) deliver(view []byte, fn func(*Message)) {
	m := &s.message
	h := frame.Get(view)
	m.Sequence, m.Time, m.TopicID, m.Publisher = h.Sequence, h.Time, h.Topic, h.Publisher
	m.Payload = view[frame.HeaderBytes:h.Length:h.Length]
	fn(m)
}

// gap delivers a gap, and counts it.
func (s *Subscription) gap(g Gap, fn func(*Message)) int {
	s.dropped[g.Reason].Add(g.Count)
	m := Message{Sequence: g.First, Gap: g, topics: s.topics}
	fn(&m)
	return 1
}

// shorten applies MaxLag: between Acquire and Release.
func (s *Subscription) shorten(fn func(*Message)) (int, error) {
	f := s.follower
	lag := s.engine.stream.Tail() - f.Next()
	s.lag.Observe(lag)
	if lag <= uint64(s.policy.MaxLag) {
		return 0, nil
	}
	if s.policy.Kind == ring.PolicyDisconnect {
		f.Release()
		s.end(ErrSlowConsumer)
		return 0, ErrSlowConsumer
	}
	first := f.Next()
	skipped := f.SkipTo(first + lag - uint64(s.policy.MaxLag))
	if skipped == 0 {
		return 0, nil
	}
	return s.gap(Gap{First: first, Last: first + skipped - 1, Count: skipped,
		Reason: ring.GapDropOldest}, fn), nil
}

// matches asks the pattern once for each topic.
func (s *Subscription) matches(number uint32) bool {
	if int(number) >= len(s.verdicts) {
		grown := make([]uint8, max(int(number)+1, 2*len(s.verdicts), 64))
		copy(grown, s.verdicts)
		s.verdicts = grown
	}
	if s.verdicts[number] == 0 {
		s.verdicts[number] = verdictNo
		if s.pattern.Match(s.topics.Name(number)) {
			s.verdicts[number] = verdictYes
		}
	}
	return s.verdicts[number] == verdictYes
}

// PollContext is Poll that waits for the first message, as SubscribeOptions.Wait says,
// until ctx is done.
func (s *Subscription) PollContext(ctx context.Context, limit int, fn func(*Message)) (int, error) {
	s.enter()
	n, err := s.pollWaiting(ctx, limit, fn)
	s.leave()
	return n, err
}

func (s *Subscription) pollWaiting(ctx context.Context, limit int, fn func(*Message)) (int, error) {
	for {
		n, err := s.poll(limit, fn)
		if n > 0 || err != nil {
			s.idler.Reset()
			return n, err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if !s.idler.Idle() {
			continue
		}
		if s.sleeper == nil {
			s.sleeper = s.waitGroup().NewSleeper()
		}
		s.sleeper.Arm()
		if n, err = s.poll(limit, fn); n > 0 || err != nil {
			s.sleeper.Disarm()
			return n, err
		}
		s.waits.Inc()
		select {
		case <-s.sleeper.C():
		case <-ctx.Done():
			s.sleeper.Disarm()
			return 0, ctx.Err()
		}
	}
}

func (s *Subscription) waitGroup() *wait.Group {
	if s.queue != nil {
		return &s.queue.filled
	}
	return s.engine.stream.Readers()
}

// Messages ranges over messages and gaps as they come. A message is valid until the loop's
// next turn. It ends with an error: ctx's, ErrClosed, or ErrSlowConsumer.
func (s *Subscription) Messages(ctx context.Context) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for {
			more := true
			_, err := s.PollContext(ctx, 1, func(m *Message) { more = yield(m, nil) })
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// Close ends the subscription; a PollContext under way in another goroutine answers
// ErrClosed. What its fn is looking at stays as it is until fn returns. It is idempotent.
func (s *Subscription) Close() error {
	s.end(ErrClosed)
	return nil
}

// end takes the subscription out of the engine, once.
func (s *Subscription) end(why error) {
	state := subClosed
	if why == ErrSlowConsumer {
		state = subSlow
	}
	if !s.state.CompareAndSwap(subOpen, state) {
		return
	}
	e := s.engine
	e.mu.Lock()
	delete(e.mu.subscriptions, s)
	e.mu.Unlock()
	if s.queue != nil {
		e.unfeed(s)
		s.queue.filled.Wake()
	}
	if !s.polling.Load() { // pairs(polling): state is stored
		s.release()
	}
	e.stream.Readers().Wake()
}

// release lets go of the stream, once nothing reads it any more. Whoever ends the
// subscription and whoever polls it may both come here, even at once.
func (s *Subscription) release() {
	if s.follower != nil {
		s.follower.Close()
	}
	if s.sleeper != nil {
		s.sleeper.Close()
	}
}
