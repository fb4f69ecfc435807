package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring/frame"
)

// Client is a connection to a server, for publishing, and the maker of subscriptions. Its
// methods may be called from any goroutine.
type Client struct {
	address string
	config  Config
	dialer  dialer // run's
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	wake    chan struct{} // to the sender, where it is idle
	space   chan struct{} // to one of those who wait for room
	ended   chan struct{} // closed once mu.err is set

	maxPayload atomic.Int64
	reconnects atomic.Uint64
	batches    atomic.Uint64

	mu struct {
		sync.Mutex
		out     outbox
		aliases map[string]*topicAlias
		link    *link // nil while there is no connection
		readEnd bool  // the link's reader has ended
		idle    bool  // the sender waits for wake
		waiters int   // goroutines that wait for room
		closing bool
		err     error // the end
		subs    map[*Subscription]struct{}
	}
}

// Stats are figures of a client's publishing, counted since its start.
type Stats struct {
	Published  uint64 // messages that Publish has accepted
	Confirmed  uint64 // of them, those that the server is known to have, or lost
	Batches    uint64 // writes
	Reconnects uint64 // connections made again
	Connected  bool
}

// Dial connects to a server, and answers once that has accepted the client. ctx and
// Config.DialTimeout bound how long it may take. A failure is a *ConnectionError; what the
// server refuses Is also a sentinel of package native, such as native.ErrAuth.
func Dial(ctx context.Context, address string, cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Client{address: address, config: cfg, wake: make(chan struct{}, 1),
		space: make(chan struct{}, 1), ended: make(chan struct{})}
	c.dialer = dialer{address: address, config: &c.config}
	l, err := c.dialer.first(ctx)
	if err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.mu.out = newOutbox(cfg.BatchBytes)
	c.mu.aliases = make(map[string]*topicAlias)
	c.mu.subs = make(map[*Subscription]struct{})
	c.connected(l)
	c.running.Go(func() { c.run(l) })
	return c, nil
}

// connected makes l the client's connection; false where the client is closing.
func (c *Client) connected(l *link) bool {
	c.maxPayload.Store(int64(min(l.welcome.MaxFrameBytes, frame.MaxBytes)) - frame.HeaderBytes)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.readEnd = false
	if c.mu.closing {
		return false
	}
	c.mu.link = l
	return true
}

// MaxPayload is the longest payload, in bytes, that the server takes.
func (c *Client) MaxPayload() int { return int(max(0, c.maxPayload.Load())) }

// Stats answers the client's figures at this moment.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{Published: c.mu.out.accepted, Confirmed: c.mu.out.confirmed,
		Batches: c.batches.Load(), Reconnects: c.reconnects.Load(), Connected: c.mu.link != nil}
}

// Publisher answers a publisher on a topic. Publishers of one client on one topic share
// their count of messages. A name that breaks the rules is a native.ErrTopicName.
func (c *Client) Publisher(topic string) (*Publisher, error) {
	if err := native.CheckTopic(topic); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.closedLocked(); err != nil {
		return nil, err
	}
	t, ok := c.mu.aliases[topic]
	if !ok {
		t = &topicAlias{name: topic, alias: uint32(len(c.mu.out.topics) + 1)}
		if t.alias > native.MaxTopicID {
			return nil, ErrTooMany
		}
		c.mu.aliases[topic] = t
		c.mu.out.topics = append(c.mu.out.topics, t)
	}
	return &Publisher{client: c, topic: t}, nil
}

func (c *Client) closedLocked() error {
	if c.mu.closing {
		return ErrClosed
	}
	return c.mu.err
}

// Flush sends what was published, and waits until the server has it in its stream: a
// barrier. It answers a *LostError where messages that were published before may be lost,
// once for each loss; what the server has ended the client with; or ctx's error.
func (c *Client) Flush(ctx context.Context) error {
	done := make(chan error, 1)
	for {
		err := c.flushOnce(ctx, done)
		if err != errAgain {
			return err
		}
	}
}

func (c *Client) flushOnce(ctx context.Context, done chan error) error {
	c.mu.Lock()
	for {
		if err := c.closedLocked(); err != nil {
			c.mu.Unlock()
			return err
		}
		if err := c.mu.out.takeLost(); err != nil {
			c.mu.Unlock()
			return err
		}
		if c.mu.out.ask(done) {
			break
		}
		if err := c.waitLocked(ctx); err != nil {
			c.mu.Unlock()
			return err
		}
	}
	c.signalLocked()
	c.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		c.mu.Lock()
		c.mu.out.forget(done)
		c.mu.Unlock()
		return ctx.Err()
	}
}

// signalLocked wakes the sender if it is idle.
func (c *Client) signalLocked() {
	if c.mu.idle {
		c.mu.idle = false
		c.wake <- struct{}{}
	}
}

// waitLocked waits for a batch to be taken. It gives the mutex up meanwhile.
func (c *Client) waitLocked(ctx context.Context) (err error) {
	c.mu.waiters++
	c.mu.Unlock()
	select {
	case <-c.space:
	case <-c.ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	c.mu.waiters--
	return err
}

// spaceLocked wakes one of those who wait for room. It wakes the next once it has what it
// wanted.
func (c *Client) spaceLocked() {
	if c.mu.waiters > 0 {
		select {
		case c.space <- struct{}{}:
		default:
		}
	}
}

// Close sends what was published, says goodbye, and ends the client and its subscriptions.
// It takes at most some seconds, and answers a *LostError where the server may not have
// everything that was published. It is idempotent.
func (c *Client) Close() error {
	c.mu.Lock()
	if c.mu.closing {
		c.mu.Unlock()
		c.running.Wait()
		return nil
	}
	c.mu.closing = true
	l := c.mu.link
	subs := c.mu.subs
	c.mu.subs = nil
	c.signalLocked()
	c.mu.Unlock()
	if l != nil {
		_ = l.conn.SetWriteDeadline(time.Now().Add(lingerTimeout))
	} else {
		c.cancel()
	}
	hammer := time.AfterFunc(2*lingerTimeout, c.cancel)
	for s := range subs {
		s.Close()
	}
	c.running.Wait()
	hammer.Stop()
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.out.takeLost()
}
