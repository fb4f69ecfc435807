package ring

import (
	"math"
	"sync/atomic"
)

// Range is a run of messages that lie side by side in a block, or a gap.
type Range struct {
	Block  *Block
	Offset uint32 // of the first byte, in the block
	Bytes  uint32 // whole frames with their padding; less where the front was consumed
	Count  uint32 // messages; one that was consumed in part counts
	First  uint64 // sequence of the first message; the others follow without a hole
	Gap    Gap    // where Gap.Reason is not GapNone there are no bytes and no messages
}

// View is the range's memory.
func (r *Range) View() []byte { return r.Block.Bytes(r.Offset, r.Bytes) }

// slot is a range as the ring keeps it. What the producer may still extend is one word, so
// that the consumer never sees half of an extension:
//
//	 63       32 31        0
//	+-----------+-----------+
//	|   bytes   | messages  |  of messages
//	+-----------+-----------+
//	|   span    | messages  |  of a gap: its last sequence is first+span
//	+-----------+-----------+
//
// A gap that does not fit is wide: it is not extended, and extent is its messages alone.
type slot struct {
	block  *Block
	first  uint64
	last   uint64 // of a wide gap
	extent atomic.Uint64
	offset uint32
	reason GapReason
	wide   bool
}

// putGap makes the slot that of a gap. Producer, before it is published.
func (s *slot) putGap(g Gap) {
	s.block, s.offset, s.first, s.reason, s.last = nil, 0, g.First, g.Reason, g.Last
	s.wide = false
	if s.wide = !s.extendGap(g, 0); s.wide {
		s.extent.Store(g.Count)
	}
}

// extendGap adds g behind the count messages that the slot has, and answers whether they
// fit. Producer.
func (s *slot) extendGap(g Gap, count uint32) bool {
	span := g.Last - s.first
	if !s.wide && span <= math.MaxUint32 && g.Count <= uint64(math.MaxUint32-count) {
		s.extent.Store(span<<32 | (uint64(count) + g.Count)) // pairs(extent)
		return true
	}
	return false
}

// gap is the gap that the slot holds. Consumer.
func (s *slot) gap() Gap {
	extent := s.extent.Load() // pairs(extent)
	if s.wide {
		return Gap{First: s.first, Last: s.last, Count: extent, Reason: s.reason}
	}
	return Gap{First: s.first, Last: s.first + extent>>32, Count: uint64(uint32(extent)),
		Reason: s.reason}
}

// front is the consumer's place in the front slot. Messages are counted when the slot is
// consumed to its end, or by Split; sent bytes beyond those of counted ones are the start
// of messages that are not.
type front struct {
	bytes        uint32 // consumed
	counted      uint32 // messages that were counted as popped
	countedBytes uint32 // what those messages occupy
	missed       uint64 // of a gap: messages that were answered
	last         uint64 // of a gap: the last sequence that was answered
}
