package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/engine/topic"
	"github.com/fantail-io/fantail/ring"
)

// Engine is one stream with its topics, publishers and subscriptions.
type Engine struct {
	config   Config
	stream   *ring.Stream
	topics   *topic.Registry
	clock    clock
	closed   atomic.Bool
	stop     chan struct{} // ends the sweeper
	stopped  sync.WaitGroup
	streamID uint64
	nextName atomic.Uint32 // of publishers
	mu       struct {
		sync.Mutex
		publishers    map[*Publisher]struct{}
		subscriptions map[*Subscription]struct{}
		doors         []Door
		dispatcher    *dispatcher // while there are subscriptions that it feeds
		retired       PublisherStats
	}
}

// Door is a way in and out of an engine for other processes. Engine.Close closes it first.
type Door interface {
	// Close delivers what is queued until ctx is done, then ends all sessions. The error
	// says what was not delivered.
	Close(ctx context.Context) error
}

// New makes an engine and takes its memory. Close gives it back.
func New(c Config) (*Engine, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	stream, err := ring.NewStream(ring.Config{BlockBytes: c.BlockBytes,
		Blocks:       (c.StreamBytes + c.BlockBytes - 1) / c.BlockBytes,
		ClaimTimeout: c.ClaimTimeout})
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	e := &Engine{config: c, stream: stream, topics: topic.NewRegistry(c.MaxTopics),
		clock: newClock(), streamID: rand.Uint64(), stop: make(chan struct{})}
	e.mu.publishers = make(map[*Publisher]struct{})
	e.mu.subscriptions = make(map[*Subscription]struct{})
	e.stopped.Go(e.sweep)
	return e, nil
}

// sweep expires claims that nobody answers for, a few times per ClaimTimeout.
func (e *Engine) sweep() {
	tick := time.NewTicker(min(max(e.stream.ClaimTimeout()/4, time.Millisecond), time.Second))
	defer tick.Stop()
	for {
		select {
		case <-e.stop:
			return
		case now := <-tick.C:
			e.stream.Sweep(now.UnixNano())
		}
	}
}

// MaxPayload is the longest payload, in bytes, that a message can have.
func (e *Engine) MaxPayload() int { return e.stream.MaxPayload() }

// Stream is the engine's stream, for doors.
func (e *Engine) Stream() *ring.Stream { return e.stream }

// Topics is the engine's table of topics, for doors.
func (e *Engine) Topics() *topic.Registry { return e.topics }

// Now is the time in nanoseconds since the Unix epoch, from a clock that never goes back.
func (e *Engine) Now() int64 { return e.clock.now() }

// StreamID is a random number, another one for each engine: sequences of different streams
// have nothing to do with each other.
func (e *Engine) StreamID() uint64 { return e.streamID }

// PublisherNumber is a number for Message.Publisher that no other publisher has: for doors,
// whose publishers publish on many topics.
func (e *Engine) PublisherNumber() uint32 { return e.nextName.Add(1) }

// AddDoor makes Close close d before everything else; RemoveDoor takes it out again.
func (e *Engine) AddDoor(d Door) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return ErrClosed
	}
	e.mu.doors = append(e.mu.doors, d)
	return nil
}

// RemoveDoor forgets d, which has closed itself.
func (e *Engine) RemoveDoor(d Door) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, other := range e.mu.doors {
		if other == d {
			e.mu.doors = append(e.mu.doors[:i], e.mu.doors[i+1:]...)
			return
		}
	}
}

// UndeliveredError says what Close gave up on. It Is context.DeadlineExceeded or
// context.Canceled, as its context was.
type UndeliveredError struct {
	Subscriptions int    // in-process subscriptions that had not read everything
	Messages      uint64 // that they had not read, before their patterns were applied
	Doors         error  // what the doors had left
	cause         error
}

func (e *UndeliveredError) Error() string {
	text := fmt.Sprintf("engine: close gave up (%v) with %d messages unread by %d subscriptions",
		e.cause, e.Messages, e.Subscriptions)
	if e.Doors != nil {
		text += ": " + e.Doors.Error()
	}
	return text
}

// Unwrap is the context's error and the doors'.
func (e *UndeliveredError) Unwrap() []error { return []error{e.cause, e.Doors} }

// Close refuses further publishing at once, waits until every door has delivered and every
// Wait subscription has read what was published or until ctx is done, then ends all
// sessions and gives the memory back. The error, if any, is an *UndeliveredError; or it says
// that a claim, or a message in a Poll's fn, was still in use: the memory is then kept, since
// taking it away would end the process. Close is idempotent.
func (e *Engine) Close(ctx context.Context) error {
	if e.closed.Swap(true) {
		return nil
	}
	e.stream.Refuse()
	e.mu.Lock()
	doors := append([]Door(nil), e.mu.doors...)
	e.mu.Unlock()
	var failed UndeliveredError
	for _, d := range doors {
		if err := d.Close(ctx); err != nil {
			failed.Doors = err
		}
	}
	e.drain(ctx, &failed)
	close(e.stop)
	e.stopped.Wait()
	for _, s := range e.open() {
		s.end(ErrClosed)
	}
	err := e.release(ctx)
	if failed.Subscriptions > 0 || failed.Doors != nil {
		failed.cause = ctx.Err()
		return &failed
	}
	return err
}

// releaseTimeout bounds how long Close waits for publishers and subscribers that it caught in
// the middle of a message: 1 s, or while ctx lasts, but at least a hundredth of that.
const releaseTimeout = time.Second

// release gives the stream's memory back once nobody is in the middle of a message.
func (e *Engine) release(ctx context.Context) error {
	least, most := time.Now().Add(releaseTimeout/100), time.Now().Add(releaseTimeout)
	for {
		err := e.stream.Close()
		now := time.Now()
		if err == nil || now.After(most) || ctx.Err() != nil && now.After(least) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// open is the subscriptions that are not closed.
func (e *Engine) open() []*Subscription {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*Subscription
	for s := range e.mu.subscriptions {
		all = append(all, s)
	}
	return all
}

// drain waits for the subscriptions that must not lose anything.
func (e *Engine) drain(ctx context.Context, failed *UndeliveredError) {
	tail := e.stream.Tail()
	for _, s := range e.open() {
		if s.policy.Kind != ring.PolicyWait || s.follower == nil {
			continue
		}
		sleeper := e.stream.Space().NewSleeper()
		for s.follower.Cursor() < tail && ctx.Err() == nil && !s.closed() {
			sleeper.Arm()
			select {
			case <-sleeper.C():
			case <-ctx.Done():
			case <-time.After(time.Millisecond): // a cursor moves without ringing
			}
		}
		sleeper.Close()
		if left := tail - min(tail, s.follower.Cursor()); left > 0 && !s.closed() {
			failed.Subscriptions++
			failed.Messages += left
		}
	}
}
