package client

import (
	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring/frame"
)

// topicAlias is a topic that a client publishes on. Guarded as its outbox is.
type topicAlias struct {
	name     string
	alias    uint32
	sequence uint64 // of the last message: the publisher's count
	declared bool   // a TOPIC was put into a batch
	inFill   bool   // that batch is the one that is being filled
}

// barrier waits for the echo of a heartbeat.
type barrier struct {
	token uint64     // the heartbeat's
	upTo  uint64     // the messages that were accepted before it
	done  chan error // capacity 1; nil where nobody waits
}

// outbox is what publishers have published and the server may not have yet. It is a state
// machine without I/O; the client's mutex guards it.
//
//	accepted ≥ … ≥ confirmed
//	  fill: being filled    flight: being written    earlier: written, not yet confirmed
type outbox struct {
	limit        int    // bytes of a batch, unless a single message is longer
	fill         []byte // whole frames
	fillMessages uint64
	spare        []byte        // the batch that is not being filled; nil while it is in flight
	topics       []*topicAlias // alias 1 first
	fresh        []*topicAlias // those with inFill
	accepted     uint64        // messages ever
	confirmed    uint64        // of them, those that the server has, or that count as lost
	lost         uint64        // not yet told to anybody
	cause        error         // of the last loss
	barriers     []barrier     // oldest first
	token        uint64        // of the newest heartbeat
	sentToken    uint64        // of the newest one that is not in fill
	askedAt      uint64        // accepted, when confirmation was last asked for
}

func newOutbox(limit int) outbox {
	return outbox{limit: limit, fill: make([]byte, 0, limit+slackBytes),
		spare: make([]byte, 0, limit+slackBytes)}
}

// fits reports whether a frame of n bytes may be added. An empty batch takes any.
func (o *outbox) fits(n int) bool { return len(o.fill) == 0 || len(o.fill)+n <= o.limit }

// publish adds a message, and its topic's name where that is due. False: no room.
func (o *outbox) publish(t *topicAlias, payload []byte) bool {
	n := frame.Aligned(frame.HeaderBytes + len(payload))
	if !t.declared {
		n += frame.Aligned(frame.HeaderBytes + len(t.name))
	}
	if !o.fits(n) {
		return false
	}
	if !t.declared {
		o.fill = appendTopic(o.fill, t)
		t.declared, t.inFill = true, true
		o.fresh = append(o.fresh, t)
	}
	t.sequence++
	o.fill = frame.Append(o.fill, frame.Header{Kind: frame.Publish, Topic: t.alias,
		Sequence: t.sequence}, payload)
	o.fillMessages++
	o.accepted++
	return true
}

func appendTopic(dst []byte, t *topicAlias) []byte {
	return native.AppendTopic(dst, &native.Topic{ID: t.alias, Name: []byte(t.name)})
}

// ask adds a heartbeat whose echo confirms all that was accepted so far. Control frames may
// exceed the limit by slackBytes; false: they have.
func (o *outbox) ask(done chan error) bool {
	if len(o.fill)+frame.HeaderBytes > o.limit+slackBytes {
		return false
	}
	o.token++
	o.fill = native.AppendHeartbeat(o.fill, native.Heartbeat{Sequence: o.token})
	o.barriers = append(o.barriers, barrier{token: o.token, upTo: o.accepted, done: done})
	o.askedAt = o.accepted
	return true
}

// reply adds the echo of a server's heartbeat; without room it is left out.
func (o *outbox) reply(sequence uint64) {
	if len(o.fill)+frame.HeaderBytes <= o.limit+slackBytes {
		o.fill = native.AppendHeartbeat(o.fill, native.Heartbeat{Sequence: sequence, Reply: true})
	}
}

// forget stops waiting for a barrier.
func (o *outbox) forget(done chan error) {
	for i := range o.barriers {
		if o.barriers[i].done == done {
			o.barriers[i].done = nil
		}
	}
}

// take answers the batch to be written, and starts another. put gives it back.
func (o *outbox) take() []byte {
	if o.accepted-o.askedAt >= confirmEvery && len(o.barriers) == 0 {
		o.ask(nil)
	}
	flight := o.fill
	o.fill, o.spare = o.spare[:0], nil
	o.fillMessages, o.sentToken = 0, o.token
	for _, t := range o.fresh {
		t.inFill = false
	}
	o.fresh = o.fresh[:0]
	return flight
}

// put gives back what take has answered.
func (o *outbox) put(flight []byte) { o.spare = flight[:0] }

// echo says that the server has handled the heartbeat with that token, and all before it.
func (o *outbox) echo(token uint64) {
	n := 0
	for n < len(o.barriers) && o.barriers[n].token <= token {
		b := &o.barriers[n]
		o.confirmed = max(o.confirmed, b.upTo)
		if b.done != nil {
			b.done <- o.takeLost() // of a connection before this one
		}
		n++
	}
	o.barriers = append(o.barriers[:0], o.barriers[n:]...)
}

// broken says that the connection has ended: what was on its way may be lost, and those who
// wait for a heartbeat that was must ask again.
func (o *outbox) broken(cause error) {
	if sent := o.accepted - o.fillMessages; sent > o.confirmed {
		o.lost += sent - o.confirmed
		o.confirmed, o.cause = sent, cause
	}
	n, told := 0, false
	for n < len(o.barriers) && o.barriers[n].token <= o.sentToken {
		if done := o.barriers[n].done; done != nil {
			told = true
			if o.lost > 0 {
				done <- &LostError{Messages: o.lost, Err: cause}
			} else {
				done <- errAgain
			}
		}
		n++
	}
	o.barriers = append(o.barriers[:0], o.barriers[n:]...)
	if told {
		o.lost = 0
	}
}

// takeLost answers what was lost and not yet told; nil for nothing.
func (o *outbox) takeLost() error {
	if o.lost == 0 {
		return nil
	}
	err := &LostError{Messages: o.lost, Err: o.cause}
	o.lost = 0
	return err
}

// preamble answers the frames that a new connection needs before the batches.
func (o *outbox) preamble(dst []byte) []byte {
	for _, t := range o.topics {
		if t.declared && !t.inFill {
			dst = appendTopic(dst, t)
		}
	}
	return dst
}

// fail ends every wait with err.
func (o *outbox) fail(err error) {
	for _, b := range o.barriers {
		if b.done != nil {
			b.done <- err
		}
	}
	o.barriers = nil
}
