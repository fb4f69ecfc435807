package ring

import (
	"math/bits"
	"sync/atomic"

	"github.com/fantail-io/fantail/ring/counter"
	"github.com/fantail-io/fantail/ring/invariant"
)

// Ring is a bounded queue of ranges from one producer to one consumer. The producer may
// extend the last range; the consumer leaves it only once there is a next one, so adjacent
// messages share a slot however many turns brought them.
//
//	slots  [ consumed | front: consumed up to some byte | … | last: may still grow |  free ]
//	                    ▲ head (consumer)                     ▲ tail-1 (producer)
//
// Append and AppendGap: the producer's goroutine. Front, Ranges, Consume, ConsumeGap: the
// consumer's. Fill: anyone's. Both ends may be the same goroutine.
type Ring struct {
	_        pad
	produced uint64 // producer: slots published; its copy of tail
	released uint64 // producer: its copy of head; stale is safe, it only reads low
	_        pad
	tail     atomic.Uint64   // slots published
	messages counter.Counter // appended; before the consumer can see them
	bytes    counter.Counter // appended
	_        pad
	head     atomic.Uint64   // slots given back
	popped   counter.Counter // messages consumed or dropped
	drained  counter.Counter // bytes consumed or dropped
	_        pad
	front    front // consumer: how far the front slot was consumed
	_        pad
	slots    []slot
	mask     uint64
}

// NewRing makes a ring of that many slots, rounded up to a power of two, at least 2.
func NewRing(slots int) *Ring {
	n := uint64(1) << bits.Len64(uint64(max(slots, 2)-1))
	return &Ring{slots: make([]slot, n), mask: n - 1}
}

// full reports whether no slot is free. Producer.
func (r *Ring) full() bool {
	if r.produced-r.released < uint64(len(r.slots)) {
		return false
	}
	r.released = r.head.Load() // pairs(head): the slots below are the producer's again
	return r.produced-r.released == uint64(len(r.slots))
}

// Append adds count messages, the first with sequence first, that occupy bytes at offset.
// They share the last range's slot where they continue it. It answers false when the ring
// is full.
func (r *Ring) Append(block *Block, offset, bytes, count uint32, first uint64) bool {
	if r.produced > 0 {
		s := &r.slots[(r.produced-1)&r.mask]
		extent := s.extent.Load()
		if s.block == block && s.reason == GapNone && s.offset+uint32(extent>>32) == offset &&
			s.first+uint64(uint32(extent)) == first {
			r.count(count, bytes)
			invariant.Yield()
			s.extent.Store(extent + uint64(bytes)<<32 + uint64(count)) // pairs(extent)
			return true
		}
	}
	if r.full() {
		return false
	}
	r.count(count, bytes)
	s := &r.slots[r.produced&r.mask]
	s.block, s.offset, s.first, s.reason, s.wide = block, offset, first, GapNone, false
	s.extent.Store(uint64(bytes)<<32 | uint64(count))
	r.publish()
	return true
}

// AppendGap says, at this place of the queue, that messages are missing. A gap that
// continues the last one, for the same reason, extends it. It answers false when the ring
// is full.
func (r *Ring) AppendGap(g Gap) bool {
	if invariant.Enabled && (g.Reason == GapNone || g.Last < g.First) {
		panic("ring: a gap of nothing")
	}
	if r.produced > 0 {
		s := &r.slots[(r.produced-1)&r.mask]
		if s.reason == g.Reason && s.extendGap(g, uint32(s.extent.Load())) {
			return true
		}
	}
	if r.full() {
		return false
	}
	r.slots[r.produced&r.mask].putGap(g)
	r.publish()
	return true
}

func (r *Ring) publish() {
	r.produced++
	r.tail.Store(r.produced) // pairs(tail): publishes the slot
}

// count comes before what it counts is published: Fill never sees more leave than came.
func (r *Ring) count(messages, bytes uint32) {
	r.messages.Add(uint64(messages))
	r.bytes.Add(uint64(bytes))
}

// Slots is the ring's capacity in ranges.
func (r *Ring) Slots() int { return len(r.slots) }

// Grown answers a ring of twice the slots with what is unconsumed in r, which must not be
// used any more. For rings whose both ends are one goroutine; no message may be consumed in
// part: see Split.
func (r *Ring) Grown() *Ring {
	g := NewRing(2 * len(r.slots))
	for {
		f, ok := r.Front()
		if !ok {
			break
		}
		if f.Gap.Reason != GapNone {
			g.AppendGap(f.Gap)
			r.ConsumeGap(f.Gap)
			continue
		}
		g.Append(f.Block, f.Offset, f.Bytes, f.Count, f.First)
		r.Consume(f.Bytes)
	}
	return g
}

// Fill is how much is queued: messages, and bytes. Anyone may ask; a range that is half
// sent counts its messages as they leave.
func (r *Ring) Fill() (messages, bytes uint64) {
	popped, drained := r.popped.Load(), r.drained.Load() // before what is larger
	return r.messages.Load() - popped, r.bytes.Load() - drained
}
