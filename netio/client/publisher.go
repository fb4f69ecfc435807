package client

import (
	"context"
	"sync/atomic"
)

// Publisher publishes on one topic. Its methods may be called from any goroutine; messages
// of one goroutine keep their order, on whatever topics of one client.
type Publisher struct {
	client *Client
	topic  *topicAlias
	closed atomic.Bool
}

// Topic is the topic's name.
func (p *Publisher) Topic() string { return p.topic.name }

// Publish copies the payload into the batch that is sent next: at once where the sender
// rests, and otherwise as soon as it has written the one before. It never waits: while both
// batches are full it answers ErrBackPressure. A nil error says that the message is on its
// way; see Client.Flush.
func (p *Publisher) Publish(payload []byte) error {
	c := p.client
	if p.closed.Load() {
		return ErrClosed
	}
	if len(payload) > c.MaxPayload() {
		return ErrTooLarge
	}
	c.mu.Lock()
	if c.mu.err != nil || c.mu.closing {
		err := c.closedLocked()
		c.mu.Unlock()
		return err
	}
	ok := c.mu.out.publish(p.topic, payload)
	if ok {
		c.signalLocked()
	}
	c.mu.Unlock()
	if !ok {
		return ErrBackPressure
	}
	return nil
}

// PublishContext is Publish that waits for room until ctx is done.
func (p *Publisher) PublishContext(ctx context.Context, payload []byte) error {
	err := p.Publish(payload)
	if err != ErrBackPressure {
		return err
	}
	c := p.client
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if err := c.closedLocked(); err != nil {
			return err
		}
		if c.mu.out.publish(p.topic, payload) {
			c.signalLocked()
			c.spaceLocked()
			return nil
		}
		if err := c.waitLocked(ctx); err != nil {
			c.spaceLocked() // the wake-up may have been this one's
			return err
		}
	}
}

// Close makes later calls of Publish answer ErrClosed. What was published is sent. It is
// idempotent.
func (p *Publisher) Close() error {
	p.closed.Store(true)
	return nil
}
