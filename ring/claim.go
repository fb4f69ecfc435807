package ring

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/invariant"
)

// Claim is space for one message. It is a value, owned by the goroutine that claimed it;
// exactly one of Commit and Abort ends it.
//
// The compiler keeps values of up to four words in registers. A claim with one more costs
// twice as much: it is stored in words and copied in pairs of them, and each pair waits.
type Claim struct {
	block    *Block
	sequence uint64
	entry    entry // what Commit will say
}

// Sequence is the message's number in the stream.
func (c *Claim) Sequence() uint64 { return c.sequence }

// Bytes is the payload's memory, for the owner to fill before Commit. Its content is
// undefined before.
func (c *Claim) Bytes() []byte {
	if c.block == nil {
		return nil
	}
	return c.block.Bytes(c.entry.offset()+frame.HeaderBytes, c.entry.length()-frame.HeaderBytes)
}

// Commit publishes the message. The payload must not be touched afterwards.
func (c *Claim) Commit() error { return c.end(c.entry) }

// Abort gives the space up; no follower will see the message. Its sequence stays unused.
func (c *Claim) Abort() error { return c.end(stateAbort) }

func (c *Claim) end(e entry) error {
	b := c.block
	if b == nil {
		return ErrClaimClosed
	}
	c.block = nil
	// Where a copy of the claim has ended it, the block may be reused: its base is beyond.
	index := c.sequence - b.base.Load()
	if index >= uint64(len(b.index)) {
		return ErrClaimClosed
	}
	if slot := &b.index[index]; !slot.CompareAndSwap(stateOpen, uint64(e)) { // pairs(index)
		return b.late(slot)
	}
	b.stream.readers.Wake()
	return nil
}

// late ends a claim that is not open.
func (b *Block) late(slot *atomic.Uint64) error {
	if !slot.CompareAndSwap(stateExpired, stateAbort) {
		return ErrClaimClosed
	}
	b.stream.space.Wake() // the block may have been waiting for this
	return ErrClaimExpired
}

// take takes space for a frame that occupies that many bytes: where it lies, and which claim
// of its block it is.
func (s *Stream) take(occupied uint32) (b *Block, index, from uint32, err error) {
	for {
		b = s.current.Load()
		// full keeps the tail of a full block from growing with every refused claim.
		if !b.full() {
			t := tail(b.tail.Add(uint64(makeTail(occupied, 1)))) // pairs(tail): space, sequence
			end, size := t.bytes(), uint64(len(b.bytes))
			index = t.claims() - 1
			if end <= size {
				return b, index, uint32(end) - occupied, nil
			}
			invariant.Yield()
			if end-uint64(occupied) <= size { // the first claim past the end closes the block
				b.sealed.Store(index + 1)
			}
		}
		if err = s.roll(b); err != nil {
			return nil, 0, 0, err
		}
	}
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
	b, index, from, err := s.take(occupied)
	if err != nil {
		return Claim{}, err
	}
	sequence := b.base.Load() + uint64(index)
	// The padding, if any, is zero; the rest of the last word is overwritten.
	binary.LittleEndian.PutUint64(b.bytes[from+occupied-frame.Align:], 0)
	frame.PutData(b.bytes[from:], length, topic, publisher, sequence, now)
	return Claim{block: b, sequence: sequence, entry: makeEntry(topic, from, length)}, nil
}

// Publish claims, copies and commits, and answers the message's sequence.
func (s *Stream) Publish(topic, publisher uint32, now int64, payload []byte) (uint64, error) {
	if len(payload) > s.config.maxPayload() {
		return 0, ErrTooLarge
	}
	if invariant.Enabled && topic >= MaxTopics {
		panic("ring: a topic's number is out of bounds")
	}
	length := uint32(frame.HeaderBytes + len(payload))
	occupied := (length + frame.Align - 1) &^ (frame.Align - 1)
	b, index, from, err := s.take(occupied)
	if err != nil {
		return 0, err
	}
	sequence := b.base.Load() + uint64(index)
	binary.LittleEndian.PutUint64(b.bytes[from+occupied-frame.Align:], 0)
	bytes := b.bytes[from:]
	frame.PutData(bytes, length, topic, publisher, sequence, now)
	copy(bytes[frame.HeaderBytes:], payload)
	slot := &b.index[index]
	if !slot.CompareAndSwap(stateOpen, uint64(makeEntry(topic, from, length))) { // pairs(index)
		return 0, b.late(slot)
	}
	s.readers.Wake()
	return sequence, nil
}
