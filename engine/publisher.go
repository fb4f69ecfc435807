package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/counter"
	"github.com/fantail-io/fantail/ring/wait"
)

// Publisher publishes messages on one topic. It belongs to one goroutine at a time.
type Publisher struct {
	engine *Engine
	stream *ring.Stream
	topic  uint32
	number uint32
	name   string
	closed bool
	// sleeper and timer are made when PublishContext first has to sleep.
	sleeper *wait.Sleeper
	timer   *time.Timer

	_        counter.Pad
	messages counter.Counter
	bytes    counter.Counter
	refused  counter.Counter // answers of ErrBackPressure
	waits    counter.Counter // times that PublishContext had to sleep
	_        counter.Pad
}

// Publisher makes a publisher of a topic: tokens separated by dots, as in md.equities.AAPL.
// Close it when done.
func (e *Engine) Publisher(topicName string) (*Publisher, error) {
	number, err := e.topics.Intern(topicName)
	if err != nil {
		return nil, fmt.Errorf("engine: publisher: %w", err)
	}
	p := &Publisher{engine: e, stream: e.stream, topic: number, name: topicName,
		number: e.nextName.Add(1)}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return nil, ErrClosed
	}
	if len(e.mu.publishers) >= e.config.MaxPublishers {
		return nil, fmt.Errorf("%w publishers: the limit is %d", ErrTooMany,
			e.config.MaxPublishers)
	}
	e.mu.publishers[p] = struct{}{}
	return p, nil
}

// Topic is the publisher's topic.
func (p *Publisher) Topic() string { return p.name }

// Number is what Message.Publisher says of its messages.
func (p *Publisher) Number() uint32 { return p.number }

// Publish copies payload into the stream. It never waits: ErrBackPressure where Wait
// subscribers hold the whole stream, ErrTooLarge, or ErrClosed.
func (p *Publisher) Publish(payload []byte) error {
	if p.closed {
		return ErrClosed
	}
	if _, err := p.stream.Publish(p.topic, p.number, p.engine.clock.now(), payload); err != nil {
		if err == ErrBackPressure {
			p.refused.Inc()
		}
		return err
	}
	p.count(1, uint64(len(payload)))
	return nil
}

// PublishBatch copies payloads into the stream, in order, with one reading of the clock for
// all of them, and answers how many it has taken. Where that is fewer, the error says why;
// offer the rest again.
func (p *Publisher) PublishBatch(payloads [][]byte) (int, error) {
	if p.closed {
		return 0, ErrClosed
	}
	now := p.engine.clock.now()
	var bytes uint64
	for i, payload := range payloads {
		if _, err := p.stream.Publish(p.topic, p.number, now, payload); err != nil {
			if err == ErrBackPressure {
				p.refused.Inc()
			}
			p.count(i, bytes)
			return i, err
		}
		bytes += uint64(len(payload))
	}
	p.count(len(payloads), bytes)
	return len(payloads), nil
}

func (p *Publisher) count(messages int, bytes uint64) {
	p.messages.Add(uint64(messages))
	p.bytes.Add(bytes)
}

// backstop bounds how long a waiting publisher sleeps before it looks by itself: patience
// runs out without anybody to ring the bell.
const backstop = 5 * time.Millisecond

// PublishContext is Publish that waits while there is back pressure, until ctx is done.
func (p *Publisher) PublishContext(ctx context.Context, payload []byte) error {
	err := p.Publish(payload)
	if err != ErrBackPressure {
		return err
	}
	p.waits.Inc()
	if p.sleeper == nil {
		p.sleeper, p.timer = p.stream.Space().NewSleeper(), time.NewTimer(backstop)
	}
	defer p.timer.Stop()
	defer p.sleeper.Disarm()
	for {
		p.sleeper.Arm()
		if err = p.Publish(payload); err != ErrBackPressure {
			return err
		}
		p.timer.Reset(backstop)
		select {
		case <-p.sleeper.C():
		case <-p.timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Claim is space in the stream for one message, to be written in place. It belongs to the
// goroutine that claimed it; exactly one Commit or Abort ends it, within
// Config.ClaimTimeout, and until then no subscriber gets past it.
type Claim struct {
	claim     ring.Claim
	publisher *Publisher
}

// Claim takes space for a payload of that many bytes. It never waits; see Publish.
func (p *Publisher) Claim(payloadBytes int) (Claim, error) {
	if p.closed {
		return Claim{}, ErrClosed
	}
	c, err := p.stream.Claim(p.topic, p.number, p.engine.clock.now(), payloadBytes)
	if err != nil {
		if err == ErrBackPressure {
			p.refused.Inc()
		}
		return Claim{}, err
	}
	return Claim{claim: c, publisher: p}, nil
}

// Bytes is the payload, to be filled before Commit: its content is undefined. Nil after the
// claim has ended.
func (c *Claim) Bytes() []byte { return c.claim.Bytes() }

// Sequence is the number that the message has in the stream.
func (c *Claim) Sequence() uint64 { return c.claim.Sequence() }

// Commit publishes the message. ErrClaimExpired says that it came too late.
func (c *Claim) Commit() error {
	size := len(c.claim.Bytes())
	if err := c.claim.Commit(); err != nil {
		return err
	}
	c.publisher.count(1, uint64(size))
	return nil
}

// Abort gives the space up; nobody sees the message.
func (c *Claim) Abort() error { return c.claim.Abort() }

// Close ends the publisher. It is idempotent.
func (p *Publisher) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	if p.sleeper != nil {
		p.sleeper.Close()
	}
	e := p.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.mu.publishers, p)
	e.mu.retired.add(p.stats())
	return nil
}
