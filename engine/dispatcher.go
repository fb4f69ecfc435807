package engine

import (
	"sync"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/wait"
)

// The dispatcher copies messages for the subscriptions whose policy must act while their
// own goroutine does not: DropNewest keeps the oldest, Conflate the newest of each topic.
// It is one goroutine, there only while such subscriptions are.
type dispatcher struct {
	engine   *Engine
	follower *ring.Follower
	sleeper  *wait.Sleeper
	stop     chan struct{}
	done     chan struct{}
	mu       struct {
		sync.Mutex
		subscriptions []*Subscription
	}
}

// maxStashBytes bounds what is copied for one subscription: 64 MiB.
const maxStashBytes = 64 << 20

// feedQueue is what the dispatcher and a subscription share.
type feedQueue struct {
	sub    *Subscription
	filled wait.Group
	mu     struct {
		sync.Mutex
		stash *ring.Stash
	}
	taken *ring.Stash // the subscription's: what it reads now
}

func newFeedQueue(s *Subscription) *feedQueue {
	q := &feedQueue{sub: s, taken: newStash(s.policy)}
	q.mu.stash = newStash(s.policy)
	return q
}

func newStash(p Policy) *ring.Stash {
	most := int(p.MaxLag)
	if most == 0 {
		most = ring.DefaultMaxLag
	}
	conflate := p.Kind == ring.PolicyConflate
	if conflate {
		most = ring.MaxTopics
	}
	return &ring.Stash{MaxMessages: most, MaxBytes: maxStashBytes, Conflate: conflate}
}

// poll hands out what is queued. The stash that the dispatcher fills is swapped for an
// empty one, so that views stay put while more is copied.
func (q *feedQueue) poll(limit int, fn func(*Message)) (n int) {
	s := q.sub
	for swapped := false; n < limit; {
		if g := q.taken.TakeGap(); g.Count > 0 {
			n += s.gap(g, fn)
			continue
		}
		view := q.taken.View()
		if view == nil {
			if swapped {
				return n
			}
			swapped = true
			q.mu.Lock()
			q.taken, q.mu.stash = q.mu.stash, q.taken
			q.mu.Unlock()
			continue
		}
		s.deliver(view, fn)
		n++
		s.messages.Inc()
		s.bytes.Add(uint64(len(s.message.Payload)))
		q.taken.Pop()
	}
	return n
}

// feed adds a subscription to the dispatcher. Under e.mu.
func (e *Engine) feed(s *Subscription) {
	d := e.mu.dispatcher
	if d == nil {
		d = &dispatcher{engine: e, follower: e.stream.Follow(ring.FollowOptions{Held: true}),
			sleeper: e.stream.Readers().NewSleeper(),
			stop:    make(chan struct{}), done: make(chan struct{})}
		e.mu.dispatcher = d
		go d.run()
	}
	d.mu.Lock()
	d.mu.subscriptions = append(d.mu.subscriptions, s)
	d.mu.Unlock()
}

// unfeed takes a subscription out, and ends the dispatcher with the last one.
func (e *Engine) unfeed(s *Subscription) {
	e.mu.Lock()
	defer e.mu.Unlock()
	d := e.mu.dispatcher
	d.mu.Lock()
	for i, other := range d.mu.subscriptions {
		if other == s {
			d.mu.subscriptions = append(d.mu.subscriptions[:i], d.mu.subscriptions[i+1:]...)
			break
		}
	}
	last := len(d.mu.subscriptions) == 0
	d.mu.Unlock()
	if last {
		e.mu.dispatcher = nil
		close(d.stop)
		<-d.done
	}
}

func (d *dispatcher) run() {
	defer close(d.done)
	defer d.follower.Close()
	defer d.sleeper.Close()
	var idler wait.Idler
	for {
		if d.turn() {
			idler.Reset()
			select {
			case <-d.stop:
				return
			default:
				continue
			}
		}
		if !idler.Idle() {
			continue
		}
		d.sleeper.Arm()
		if d.turn() {
			d.sleeper.Disarm()
			continue
		}
		select {
		case <-d.sleeper.C():
		case <-d.stop:
			return
		}
	}
}

// dispatchBatch bounds the messages of one turn, so that the subscriptions' locks are held
// for microseconds.
const dispatchBatch = 256

// turn copies a batch of messages to whoever they match, and reports whether there were any.
func (d *dispatcher) turn() bool {
	d.follower.Acquire()
	var batch [dispatchBatch]ring.Message
	n := 0
	for n < len(batch) {
		m, ok := d.follower.Read()
		if !ok {
			break
		}
		batch[n] = m
		n++
	}
	if n > 0 {
		d.mu.Lock()
		for _, s := range d.mu.subscriptions {
			s.queue.push(batch[:n])
		}
		d.mu.Unlock()
	}
	d.follower.Release()
	d.follower.Hold(d.follower.Number()) // only now: the batch is copied
	return n > 0
}

// push queues copies of the messages that match. The dispatcher only.
func (q *feedQueue) push(batch []ring.Message) {
	q.mu.Lock()
	for _, m := range batch {
		if q.sub.matches(m.Topic) {
			q.mu.stash.Push(m.Block.Bytes(m.Offset, (m.Length+frame.Align-1)&^(frame.Align-1)))
		}
	}
	q.mu.Unlock()
	q.filled.Wake()
}
