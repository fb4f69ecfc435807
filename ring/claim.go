package ring

import (
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/invariant"
)

// Claim is space for one message. It is a value, owned by the goroutine that claimed it;
// exactly one of Commit and Abort ends it.
type Claim struct {
	stream   *Stream
	block    *Block
	sequence uint64
	index    uint32
	offset   uint32
	length   uint32
	topic    uint32
}

// Sequence is the message's number in the stream.
func (c *Claim) Sequence() uint64 { return c.sequence }

// Bytes is the payload's memory, for the owner to fill before Commit. Its content is
// undefined before.
func (c *Claim) Bytes() []byte {
	if c.block == nil {
		return nil
	}
	return c.block.Bytes(c.offset+frame.HeaderBytes, c.length-frame.HeaderBytes)
}

// Commit publishes the message. The payload must not be touched afterwards.
func (c *Claim) Commit() error {
	return c.end(makeEntry(c.topic, c.offset, c.length))
}

// Abort gives the space up; no follower will see the message. Its sequence stays unused.
func (c *Claim) Abort() error { return c.end(stateAbort) }

func (c *Claim) end(e entry) error {
	if c.block == nil {
		return ErrClaimClosed
	}
	b, s := c.block, c.stream
	c.block = nil
	if b.base.Load()+uint64(c.index) != c.sequence {
		return ErrClaimClosed // a copy of the claim has ended it, and the block is reused
	}
	slot := &b.index[c.index]
	if !slot.CompareAndSwap(stateOpen, uint64(e)) { // pairs(index): publishes the frame
		if slot.CompareAndSwap(stateExpired, stateAbort) {
			s.space.Wake() // its block may have been waiting for this
			return ErrClaimExpired
		}
		return ErrClaimClosed
	}
	s.readers.Wake()
	return nil
}

// Claim takes space for a payload, stamped with the topic's and the publisher's numbers
// and the publish time in nanoseconds since the Unix epoch. It never waits.
func (s *Stream) Claim(topic, publisher uint32, now int64, payloadBytes int) (Claim, error) {
	if uint(payloadBytes) > uint(s.config.maxPayload()) {
		return Claim{}, ErrTooLarge
	}
	if invariant.Enabled && topic >= MaxTopics {
		panic("ring: a topic's number is out of bounds")
	}
	length := uint32(frame.HeaderBytes + payloadBytes)
	occupied := (length + frame.Align - 1) &^ (frame.Align - 1)
	var (
		b           *Block
		index, from uint32
	)
	for {
		b = s.current.Load()
		// full keeps the tail of a full block from growing with every refused claim.
		if !b.full() {
			t := tail(b.tail.Add(uint64(makeTail(occupied, 1)))) // pairs(tail): space, sequence
			end, size := t.bytes(), uint64(len(b.bytes))
			index, from = t.claims()-1, uint32(end)-occupied
			if end <= size {
				break
			}
			invariant.Yield()
			if end-uint64(occupied) <= size { // the first claim past the end closes the block
				b.sealed.Store(index + 1)
			}
		}
		if err := s.roll(b); err != nil {
			return Claim{}, err
		}
	}
	c := Claim{stream: s, block: b, sequence: b.base.Load() + uint64(index),
		index: index, offset: from, length: length, topic: topic}
	bytes := b.bytes[from : from+occupied : from+occupied]
	clear(bytes[len(bytes)-frame.Align:]) // the padding, if any; the rest is overwritten
	frame.Put(bytes, &frame.Header{Length: length, Kind: frame.Data, Topic: topic,
		Publisher: publisher, Sequence: c.sequence, Time: now})
	return c, nil
}

// Publish claims, copies and commits, and answers the message's sequence.
func (s *Stream) Publish(topic, publisher uint32, now int64, payload []byte) (uint64, error) {
	c, err := s.Claim(topic, publisher, now, len(payload))
	if err != nil {
		return 0, err
	}
	copy(c.block.bytes[c.offset+frame.HeaderBytes:], payload)
	return c.sequence, c.Commit()
}
