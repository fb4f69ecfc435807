package netio

import (
	"errors"
	"net"
	"time"

	"github.com/valyala/bytebufferpool"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/counter"
	"github.com/fantail-io/fantail/ring/frame"
)

// Errors that end a connection; a session's Closed is told which, or the system's own.
var (
	// ErrSlowConsumer says that policy Disconnect ended the connection.
	ErrSlowConsumer = errors.New("netio: slow consumer: disconnected by its policy")
	// ErrShutdown says that the shard is closing.
	ErrShutdown = errors.New("netio: shutting down")
	// ErrPeerClosed says that the peer ended the connection in an orderly way.
	ErrPeerClosed = errors.New("netio: closed by the peer")
)

// Session is one connection's protocol: bytes and ticks in, calls of Conn's methods out.
// The shard's goroutine calls it.
type Session interface {
	// Receive takes whole units off the front of b, a view, and answers how many bytes it
	// took. What is left comes again with more behind it, so a session must refuse, not wait
	// for, a unit that is longer than it wants to hold. ring.ErrBackPressure pauses the
	// connection: the same bytes come again later. Any other error ends the connection once
	// what was staged is sent.
	Receive(b []byte) (n int, err error)
	// Tick is called every ShardConfig.Tick with the time in nanoseconds. An error ends the
	// connection once what was staged is sent.
	Tick(now int64) error
	// Slow says that policy Disconnect is ending the connection: the last call that may
	// stage bytes.
	Slow()
	// AppendGap appends the protocol's gap record.
	AppendGap(dst []byte, g ring.Gap) []byte
	// Closed is the last call: the connection is gone.
	Closed(why error)
}

// Conn is one connection of a shard: a socket, what waits to be sent to it, and the ring
// where its messages queue.
type Conn struct {
	shard   *Shard
	session Session
	remote  net.Addr
	name    string
	slot    int
	io      ioConn // the transport's

	readable, writable bool
	ending             bool                       // the peer's end, or an error, is there to be read
	paused             bool                       // the session met back pressure
	answering          bool                       // in Session.Receive
	over               bool                       // more than controlMax was staged
	ready              bool                       // in shard.ready: may have input
	dirty              bool                       // in shard.dirty: has output
	gone               bool                       // closed; may still be in a set
	finish             error                      // why it ends once its output is sent
	finishBy           int64                      // when it ends even so
	in                 *bytebufferpool.ByteBuffer // bytes that the session has not taken

	out     *bytebufferpool.ByteBuffer // staged: goes before the ring
	sent    int                        // bytes of out that are sent
	control int                        // bytes of out that sessions staged
	owed    int                        // those of them that answer what the peer sent
	offered int                        // bytes in flight in this batch
	views   [][]byte

	submitMax int // bytes of one submission

	policy ring.Policy
	ring   *ring.Ring
	stash  *ring.Stash // in place of ring, for DropNewest and Conflate
	gap    ring.Gap    // dropped from the front, not yet told
	gating int64       // since when a WaitFor connection has held the stream; 0: it does not

	stats connCounters
}

// connCounters are written by the shard.
type connCounters struct {
	_        counter.Pad
	bytes    counter.Counter
	messages counter.Counter // queued for it
	submits  counter.Counter
	stalls   counter.Counter // submissions that the socket did not take whole
	received counter.Counter // bytes
	dropped  [ring.GapReasons]counter.Counter
	highFill counter.Max // messages
	_        counter.Pad
}

// Remote is the peer's address.
func (c *Conn) Remote() net.Addr { return c.remote }

// SetName says who the peer is, for operators.
func (c *Conn) SetName(name string) { c.name = name }

// Subscribe gives the connection a queue with that policy, for the routes that name it from
// now on. A second call changes the policy of an empty queue only; the policy must be
// checked, and its kind not PolicyDefault.
func (c *Conn) Subscribe(p ring.Policy) {
	if p.MaxLag == 0 {
		p.MaxLag = ring.DefaultMaxLag
	}
	c.policy = p
	switch p.Kind {
	case ring.PolicyDropNewest, ring.PolicyConflate:
		most, conflate := int(p.MaxLag), p.Kind == ring.PolicyConflate
		if conflate {
			most = ring.MaxTopics
		}
		c.stash = &ring.Stash{MaxMessages: most, MaxBytes: stashBytes, Conflate: conflate}
	default:
		c.ring = ring.NewRing(ringSlots)
	}
}

// Policy is what Subscribe was given; the zero Policy before.
func (c *Conn) Policy() ring.Policy { return c.policy }

// Stage appends control bytes to what is sent next, between two messages. edit appends to
// the slice that it is given, and answers the result. A connection that is finishing has
// said its last: nothing is staged for it. One for which too much is staged, since its peer
// does not read, is ended by Session.Slow, whatever its policy.
func (c *Conn) Stage(edit func(dst []byte) []byte) {
	n := c.stage(edit)
	c.control += n
	if c.answering {
		c.owed += n
	}
	if c.control > controlMax && !c.over {
		c.over = true
		c.slow()
	}
}

// stage is Stage for what is bounded otherwise, and answers how many bytes were staged.
func (c *Conn) stage(edit func(dst []byte) []byte) int {
	if c.gone || c.finish != nil {
		return 0
	}
	c.stageRest()
	if c.out == nil {
		c.out = bytebufferpool.Get()
	}
	before := len(c.out.B)
	c.out.B = edit(c.out.B)
	c.touch()
	return len(c.out.B) - before
}

// stageRest stages the rest of a message whose start is already sent, so that what is
// staged next, or the loss of the message's block, does not break it.
func (c *Conn) stageRest() {
	if c.ring == nil {
		return
	}
	if c.offered > 0 {
		panic("netio: staging while a submission is in flight")
	}
	rest := c.ring.Split()
	if rest == 0 {
		return
	}
	front, _ := c.ring.Front()
	if c.out == nil {
		c.out = bytebufferpool.Get()
	}
	c.out.B = append(c.out.B, front.Block.Bytes(front.Offset, rest)...)
	c.ring.Consume(rest)
	c.ring.Split()
}

// Finish ends the connection with why once everything staged is sent, or after a second.
// Nothing more is read from it or queued for it.
func (c *Conn) Finish(why error) {
	if c.finish != nil || c.gone {
		return
	}
	c.stageRest()
	c.finish = why
	c.finishBy = time.Now().Add(finishTimeout).UnixNano()
	c.ring, c.stash = nil, nil
	c.touch()
}

// wholeSegments makes full submissions end with a full segment of mss bytes: what is left
// over would travel, and cost, as a segment of its own.
func (c *Conn) wholeSegments(mss int) {
	if most := c.shard.config.SubmitBytes; mss > 0 && mss <= most {
		c.submitMax = most - most%mss
	}
}

// touch notes that there is output.
func (c *Conn) touch() {
	if !c.dirty {
		c.dirty = true
		c.shard.dirty = append(c.shard.dirty, c)
	}
}

// run is a number of messages side by side in a block.
type run struct {
	block         *ring.Block
	first         uint64
	offset, bytes uint32
	count         uint32
}

// offer queues a run. It answers false where a policy of Wait has no room: the shard must
// offer it again, and not go on before.
func (c *Conn) offer(r *run) bool {
	if c.gone || c.finish != nil {
		return true
	}
	if !c.dirty {
		c.touch()
	}
	if c.stash != nil {
		c.stashRun(r)
		return true
	}
	for !c.ring.Append(r.block, r.offset, r.bytes, r.count, r.first) {
		if c.ring.Slots() < maxRingSlots {
			c.grow()
			continue
		}
		switch {
		case c.waits():
			return false
		case c.policy.Kind == ring.PolicyDisconnect:
			c.slow()
			return true
		default:
			c.dropFront(^uint32(0))
		}
	}
	c.stats.messages.Add(uint64(r.count))
	fill, _ := c.ring.Fill()
	c.stats.highFill.Observe(fill)
	if fill > uint64(c.policy.MaxLag) && c.policy.Kind >= ring.PolicyDropNewest {
		c.overLag()
	}
	return true
}

// waits reports whether the connection may hold the stream back.
func (c *Conn) waits() bool {
	return c.policy.Kind == ring.PolicyWait ||
		c.policy.Kind == ring.PolicyWaitFor && c.gating >= 0
}

// overLag applies the policy to a queue that may be longer than MaxLag. DropOldest drops an
// eighth more than it must, so that gaps are few and long.
func (c *Conn) overLag() {
	c.stageRest() // fill is exact only between messages
	for {
		fill, _ := c.ring.Fill()
		if fill <= uint64(c.policy.MaxLag) {
			return
		}
		if c.policy.Kind == ring.PolicyDisconnect {
			c.slow()
			return
		}
		spare := uint64(c.policy.MaxLag / 8)
		if c.dropFront(uint32(fill-uint64(c.policy.MaxLag)+spare)) == 0 {
			return
		}
	}
}

// dropFront drops up to n messages from the front range, and answers how many.
func (c *Conn) dropFront(n uint32) uint64 {
	c.stageRest()
	g := c.ring.Discard(n, ring.GapDropOldest)
	if g.Count == 0 {
		return 0
	}
	c.stats.dropped[g.Reason].Add(g.Count)
	if c.gap.Count == 0 {
		c.gap = g
	} else {
		c.gap.Last = g.Last
		c.gap.Count += g.Count
	}
	return g.Count
}

// slow ends the connection by its policy.
func (c *Conn) slow() {
	c.stageRest()
	c.session.Slow()
	c.Finish(ErrSlowConsumer)
}

// grow doubles the ring.
func (c *Conn) grow() {
	c.stageRest()
	c.ring = c.ring.Grown()
}

func (c *Conn) stashRun(r *run) {
	for at, end := r.offset, r.offset+r.bytes; at < end; {
		h := frame.Get(r.block.Bytes(at, frame.HeaderBytes))
		n := uint32(frame.Aligned(int(h.Length)))
		if !c.stash.Push(r.block.Bytes(at, n)) {
			c.stats.dropped[ring.GapDropNewest].Inc()
		}
		at += n
	}
	c.stats.messages.Add(uint64(r.count))
	c.stats.highFill.Observe(uint64(c.stash.Len()))
}

// evict drops what lies in blocks before number, as the policy says, so that the shard need
// not hold them.
func (c *Conn) evict(number uint64) {
	if c.ring == nil || c.waits() {
		return
	}
	for {
		front, ok := c.ring.Front()
		if !ok || front.Block.Number() >= number {
			return
		}
		if c.policy.Kind == ring.PolicyDisconnect {
			c.slow()
			return
		}
		if c.dropFront(^uint32(0)) == 0 {
			if f, ok := c.ring.Front(); ok && f.Block == front.Block && f.Bytes == front.Bytes {
				panic("netio: a range that cannot be dropped")
			}
		}
	}
}

// oldest is the number of the oldest block that the connection's ring has a range in, or
// def where it has none.
func (c *Conn) oldest(def uint64) uint64 {
	if c.ring != nil {
		if front, ok := c.ring.Front(); ok {
			return min(def, front.Block.Number())
		}
	}
	return def
}

// idle reports whether nothing is left to send.
func (c *Conn) idle() bool {
	return (c.out == nil || c.sent == len(c.out.B)) && c.gap.Count == 0 &&
		(c.ring == nil || c.ring.Empty()) && (c.stash == nil || c.stash.Len() == 0)
}
