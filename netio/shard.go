package netio

import (
	"errors"
	"fmt"
	"math/bits"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/counter"
	"github.com/fantail-io/fantail/ring/wait"
)

// Shard is one goroutine on a thread of its own, and the connections that it serves.
type Shard struct {
	config   ShardConfig
	stream   *ring.Stream
	follower *ring.Follower
	io       transport
	sender   Sender
	idler    wait.Idler
	commits  *wait.Bell // rung by publishers
	space    *wait.Bell // rung when blocks were passed; armed while a session is paused
	done     chan struct{}
	why      error

	conns     []*Conn // by slot; nil where free
	free      []int   // slots
	ready     []*Conn // with input, or bytes that a session could not take yet
	dirty     []*Conn // with output
	paused    int     // connections that met back pressure
	behindRun run
	pending   run     // what a Wait connection had no room for,
	to        []*Conn // and who still has to get it
	behind    []*Conn // who gets behindRun once pending is delivered
	ranges    []ring.Range
	scratch   []byte                           // gathered small ranges of one batch
	used      int                              // of scratch
	report    func(slot int, n int, err error) // s.sent, made once
	buffer    []byte                           // what is read
	now       int64                            // at the turn's start
	ticked    int64
	evicted   uint64 // the block at which old ranges were last evicted
	drains    []drain
	gated     bool // a WaitFor connection's patience is running out

	inbox struct {
		sync.Mutex
		calls  []func()
		closed bool
	}
	filled atomic.Bool // inbox has calls

	stats shardCounters
}

type shardCounters struct {
	_         counter.Pad
	turns     counter.Counter
	parks     counter.Counter
	followed  counter.Counter // messages
	submits   counter.Counter
	syscalls  counter.Counter // the sender's
	other     counter.Counter // the transport's
	sent      counter.Counter // bytes
	received  counter.Counter // bytes
	delivered counter.Counter // messages that left the connections that are gone
	lost      counter.Counter // messages dropped for connections that are gone
	stalls    counter.Counter
	gap       counter.Max // longest turn, in nanoseconds
	sizes     [32]counter.Counter
	_         counter.Pad
}

// StartShard starts a shard. Close ends it.
func StartShard(c ShardConfig) (*Shard, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Shard{config: c, stream: c.Stream, idler: wait.Idler{Strategy: c.Wait},
		done: make(chan struct{}), buffer: make([]byte, readBytes),
		scratch: make([]byte, scratchBytes), ranges: make([]ring.Range, 0, 4*viewsMax)}
	s.report = s.sent
	started := make(chan error)
	go func() {
		// io_uring and pinning both tie the shard to this thread.
		runtime.LockOSThread()
		if c.CPU == 0 { // else the thread ends with the shard: nobody else wants it pinned
			defer runtime.UnlockOSThread()
		}
		err := s.open()
		started <- err
		if err == nil {
			s.loop()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Shard) open() error {
	var err error
	if s.io, err = newTransport(s.config.Sender); err != nil {
		return err
	}
	if s.config.CPU > 0 {
		if err := s.io.pin(s.config.CPU - 1); err != nil {
			s.io.close()
			return fmt.Errorf("netio: pin to core %d: %w", s.config.CPU-1, err)
		}
	}
	s.sender = s.io.sender()
	s.follower = s.stream.Follow(ring.FollowOptions{Held: true})
	s.commits = s.stream.Readers().NewBell(s.io.wake)
	s.space = s.stream.Space().NewBell(s.io.wake)
	return nil
}

// Sender is the name of what moves the shard's bytes into the kernel.
func (s *Shard) Sender() string { return s.sender.Name() }

// Do runs call on the shard's goroutine, soon. It answers ErrShutdown where the shard has
// ended, or is about to, and will not run it.
func (s *Shard) Do(call func()) error {
	s.inbox.Lock()
	defer s.inbox.Unlock()
	if s.inbox.closed {
		return ErrShutdown
	}
	s.inbox.calls = append(s.inbox.calls, call)
	s.filled.Store(true)
	s.io.wake()
	return nil
}

// Adopt gives a connected socket to the shard, with the session that open makes for it on
// the shard's goroutine. The shard owns the socket from now on, also where it answers an
// error, and closes it.
func (s *Shard) Adopt(nc net.Conn, open func(c *Conn) Session) error {
	remote := nc.RemoteAddr()
	io, err := takeOver(nc, s.config.Sender)
	if err != nil {
		return err
	}
	err = s.Do(func() {
		c := &Conn{shard: s, remote: remote, io: io, writable: true,
			submitMax: s.config.SubmitBytes}
		s.place(c)
		c.session = open(c)
		s.canRead(c)
		if err := s.io.add(c); err != nil {
			s.drop(c, err)
		}
	})
	if err != nil {
		io.discard()
	}
	return err
}

// place gives c a slot.
func (s *Shard) place(c *Conn) {
	if n := len(s.free); n > 0 {
		c.slot = s.free[n-1]
		s.free = s.free[:n-1]
		s.conns[c.slot] = c
		return
	}
	c.slot = len(s.conns)
	s.conns = append(s.conns, c)
}

// drop ends a connection at once.
func (s *Shard) drop(c *Conn, why error) {
	if c.gone {
		return
	}
	c.gone = true
	if c.paused {
		c.paused = false
		s.paused--
	}
	s.io.remove(c)
	s.conns[c.slot] = nil
	s.free = append(s.free, c.slot)
	if c.ring != nil {
		left, _ := c.ring.Fill()
		s.stats.delivered.Add(c.stats.messages.Load() - left)
	}
	for i := range c.stats.dropped {
		s.stats.lost.Add(c.stats.dropped[i].Load())
	}
	c.release()
	c.ring, c.stash = nil, nil
	c.session.Closed(why)
}

// loop is the shard's life.
func (s *Shard) loop() {
	defer close(s.done)
	for {
		start := time.Now().UnixNano()
		worked := s.turn(start)
		if s.why != nil {
			break
		}
		if worked {
			s.idler.Reset()
			s.stats.gap.Observe(uint64(time.Now().UnixNano() - start))
			continue
		}
		if s.linger() {
			s.park()
		}
	}
	s.inbox.Lock()
	s.inbox.closed = true
	calls := s.inbox.calls
	s.inbox.calls = nil
	s.inbox.Unlock()
	for _, call := range calls {
		call()
	}
	for _, c := range slices.Clone(s.conns) {
		if c != nil {
			s.drop(c, s.why)
		}
	}
	s.commits.Close()
	s.space.Close()
	s.follower.Close()
	s.io.close()
}

// lingerPolls is how many cheap looks a waiting shard takes for each turn, which costs a
// system call.
const lingerPolls = 64

// linger waits as the strategy says, looking for messages and calls only, and reports
// whether it is time to sleep.
func (s *Shard) linger() (park bool) {
	for range lingerPolls {
		if s.more() {
			return false
		}
		if s.idler.Idle() {
			return true
		}
	}
	return false
}

// more reports whether there are calls, or messages that the shard could take: not while a
// connection has no room for those that it has taken.
func (s *Shard) more() bool {
	return s.filled.Load() || len(s.to) == 0 && s.follower.Ready()
}

// park sleeps until there may be something to do.
func (s *Shard) park() {
	s.commits.Arm()
	if s.paused > 0 {
		s.space.Arm()
	}
	timeout := time.Duration(-1)
	switch {
	case s.paused > 0 || len(s.to) > 0 || s.gated:
		timeout = time.Millisecond // patience runs out without a ring of the bell
	case len(s.conns) > len(s.free):
		timeout = s.config.Tick
	}
	if !s.more() {
		s.stats.parks.Inc()
		s.io.wait(timeout)
	}
	s.commits.Disarm()
	s.space.Disarm()
}

// turn does everything once, and reports whether there was anything to do.
func (s *Shard) turn(now int64) (worked bool) {
	s.now = now
	s.stats.turns.Inc()
	if s.io.wait(0) > 0 {
		worked = true
	}
	if s.filled.Load() {
		s.calls()
		worked = true
	}
	if s.receive() {
		worked = true
	}
	if now-s.ticked >= int64(s.config.Tick) {
		s.ticked = now
		s.tick() // what it stages, and what it ends, is seen to in this very turn
	}
	if s.follow() {
		worked = true
	}
	if s.submit() {
		worked = true
	}
	s.hold()
	s.drained()
	s.stats.other.Add(s.io.syscalls() - s.stats.other.Load())
	return worked
}

func (s *Shard) calls() {
	s.inbox.Lock()
	calls := s.inbox.calls
	s.inbox.calls = nil
	s.filled.Store(false)
	s.inbox.Unlock()
	for _, call := range calls {
		call()
	}
}

func (s *Shard) tick() {
	for _, c := range s.conns {
		switch {
		case c == nil:
		case c.finish != nil:
			if s.now >= c.finishBy {
				s.drop(c, c.finish)
			}
		default:
			if err := c.session.Tick(s.now); err != nil {
				c.Finish(err)
			}
		}
	}
}

// Next is the sequence of the next message that the shard will take from the stream. The
// shard's goroutine only.
func (s *Shard) Next() uint64 { return s.follower.Next() }

// Close ends the shard and all of its connections, whatever is queued. It is idempotent.
func (s *Shard) Close() error {
	err := s.Do(func() { s.why = ErrShutdown })
	if errors.Is(err, ErrShutdown) {
		err = nil
	}
	<-s.done
	return err
}

// sizeClass is the index of a submission of n bytes in ShardStats.Sizes.
func sizeClass(n int) int { return bits.Len(uint(n)) }
