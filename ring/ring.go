package ring

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"github.com/fantail-io/fantail/ring/frame"
)

// Range is a run of messages that lie side by side in a block, or a gap.
type Range struct {
	Block  *Block
	Offset uint32 // of the first byte, in the block
	Bytes  uint32 // whole frames with their padding; less where the front was consumed
	Count  uint32 // messages; one that was consumed in part counts
	First  uint64 // sequence of the first message; the others follow without a hole
	Gap    Gap    // where Gap.Reason is not GapNone there are no bytes
}

// View is the range's memory.
func (r *Range) View() []byte { return r.Block.Bytes(r.Offset, r.Bytes) }

// slot is a range as the ring keeps it. What the producer may still extend is atomic.
type slot struct {
	block  *Block
	first  uint64
	last   atomic.Uint64 // of a gap
	extent atomic.Uint64 // bytes<<32 | count; of a gap, the count alone
	offset uint32
	reason GapReason
}

// front is the consumer's place in the front slot. Messages are counted when the slot is
// consumed to its end, or by Split; sent bytes beyond those of counted ones are the start
// of messages that are not.
type front struct {
	bytes        uint32 // consumed
	counted      uint32 // messages that were counted as popped
	countedBytes uint32 // what those messages occupy
	last         uint64 // of a gap: the last sequence that was answered
}

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
	tail     atomic.Uint64 // slots published
	messages atomic.Uint64 // appended
	bytes    atomic.Uint64 // appended
	_        pad
	head     atomic.Uint64 // slots given back
	popped   atomic.Uint64 // messages consumed or dropped
	drained  atomic.Uint64 // bytes consumed or dropped
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
			s.extent.Store(extent + uint64(bytes)<<32 + uint64(count)) // pairs(extent)
			r.count(uint64(count), uint64(bytes))
			return true
		}
	}
	if r.full() {
		return false
	}
	s := &r.slots[r.produced&r.mask]
	s.block, s.offset, s.first, s.reason = block, offset, first, GapNone
	s.extent.Store(uint64(bytes)<<32 | uint64(count))
	r.publish()
	r.count(uint64(count), uint64(bytes))
	return true
}

// AppendGap says, at this place of the queue, that messages are missing. A gap that
// continues the last one, for the same reason, extends it. It answers false when the ring
// is full.
func (r *Ring) AppendGap(g Gap) bool {
	if r.produced > 0 {
		s := &r.slots[(r.produced-1)&r.mask]
		if s.reason == g.Reason {
			s.last.Store(g.Last) // before extent: a count never reaches beyond last
			s.extent.Store(s.extent.Load() + g.Count)
			return true
		}
	}
	if r.full() {
		return false
	}
	s := &r.slots[r.produced&r.mask]
	s.block, s.offset, s.first, s.reason = nil, 0, g.First, g.Reason
	s.last.Store(g.Last)
	s.extent.Store(g.Count)
	r.publish()
	return true
}

func (r *Ring) publish() {
	r.produced++
	r.tail.Store(r.produced) // pairs(tail): publishes the slot
}

func (r *Ring) count(messages, bytes uint64) {
	r.messages.Store(r.messages.Load() + messages)
	r.bytes.Store(r.bytes.Load() + bytes)
}

// Front answers the first range that is not consumed. Consumer.
func (r *Ring) Front() (Range, bool) {
	var one [1]Range
	if len(r.Ranges(one[:0])) == 0 {
		return Range{}, false
	}
	return one[0], true
}

// Ranges appends the unconsumed ranges to dst, up to its capacity, and stops before a gap
// that is not the first: what it answers is either one gap, or bytes only. Consumer.
func (r *Ring) Ranges(dst []Range) []Range {
	tail := r.tail.Load() // pairs(tail)
	for at := r.head.Load(); at < tail && len(dst) < cap(dst); at++ {
		s := &r.slots[at&r.mask]
		extent := s.extent.Load() // pairs(extent): those bytes are written
		g := Range{Block: s.block, Offset: s.offset, Bytes: uint32(extent >> 32),
			Count: uint32(extent), First: s.first}
		if at == r.head.Load() {
			g.Offset, g.Bytes = g.Offset+r.front.bytes, g.Bytes-r.front.bytes
			g.First, g.Count = g.First+uint64(r.front.counted), g.Count-r.front.counted
			if g.Bytes == 0 && g.Count == 0 {
				if at+1 < tail { // finished, and final: the next one exists
					r.leave()
				}
				continue
			}
		}
		if s.reason != GapNone {
			if len(dst) > 0 {
				return dst
			}
			first := max(s.first, r.front.last+1)
			return append(dst, Range{First: first, Count: g.Count, Gap: Gap{First: first,
				Last: s.last.Load(), Count: uint64(g.Count), Reason: s.reason}})
		}
		dst = append(dst, g)
	}
	return dst
}

// Consume takes bytes off the front; they must be there, with no gap before them. Consumer.
func (r *Ring) Consume(bytes uint32) {
	r.drained.Store(r.drained.Load() + uint64(bytes))
	popped := uint32(0)
	for bytes > 0 {
		tail := r.tail.Load() // before extent: a slot that is not the last is final
		s := &r.slots[r.head.Load()&r.mask]
		extent := s.extent.Load() // pairs(extent)
		take := min(bytes, uint32(extent>>32)-r.front.bytes)
		bytes -= take
		r.front.bytes += take
		if r.front.bytes < uint32(extent>>32) {
			break
		}
		popped += uint32(extent) - r.front.counted
		r.front.counted, r.front.countedBytes = uint32(extent), r.front.bytes
		if r.head.Load()+1 == tail {
			break
		}
		r.leave()
	}
	if popped > 0 {
		r.popped.Store(r.popped.Load() + uint64(popped))
	}
}

// ConsumeGap takes g, a gap that Front has just answered, off the front. What the producer
// has added to it meanwhile stays. Consumer.
func (r *Ring) ConsumeGap(g Gap) {
	r.front.counted += uint32(g.Count)
	r.front.last = g.Last
}

// Split counts the messages of the front range that were consumed to their end, so that
// Front's First and Count are exact, and answers how many bytes of a message whose start
// was consumed are left: 0 between messages. Consumer, while it holds the block.
func (r *Ring) Split() (rest uint32) {
	s := &r.slots[r.head.Load()&r.mask]
	popped := uint64(0)
	for r.front.countedBytes < r.front.bytes {
		at := s.offset + r.front.countedBytes
		length := binary.LittleEndian.Uint32(s.block.Bytes(at, 4))
		occupied := uint32(frame.Aligned(int(length)))
		if r.front.countedBytes+occupied > r.front.bytes {
			rest = r.front.countedBytes + occupied - r.front.bytes
			break
		}
		r.front.countedBytes += occupied
		r.front.counted++
		popped++
	}
	r.popped.Store(r.popped.Load() + popped)
	return rest
}

// leave gives the front slot back to the producer, who has published a later one.
func (r *Ring) leave() {
	r.front = front{}
	r.head.Store(r.head.Load() + 1) // pairs(head)
}

// Drop takes the front range off, and answers what of it was left; the messages that were
// consumed in part, which Split tells of, are the caller's to finish first. Consumer.
func (r *Ring) Drop() (Range, bool) {
	g, ok := r.Front()
	if !ok {
		return Range{}, false
	}
	if g.Gap.Reason != GapNone {
		r.ConsumeGap(g.Gap)
	} else {
		r.Consume(g.Bytes)
	}
	return g, true
}

// Discard takes up to n whole messages off the front range, and says which; Gap.Count is 0
// where it holds none. A message that was consumed in part must be finished first: see
// Split. Consumer, while it holds the block.
func (r *Ring) Discard(n uint32, reason GapReason) Gap {
	g, ok := r.Front()
	if !ok || g.Gap.Reason != GapNone {
		return Gap{}
	}
	n = min(n, g.Count)
	bytes := g.Bytes
	if n < g.Count {
		bytes = 0
		for range n {
			length := binary.LittleEndian.Uint32(g.Block.Bytes(g.Offset+bytes, 4))
			bytes += uint32(frame.Aligned(int(length)))
		}
	}
	r.Consume(bytes)
	if n < g.Count {
		r.Split()
	}
	return Gap{First: g.First, Last: g.First + uint64(n) - 1, Count: uint64(n), Reason: reason}
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

// Empty reports whether nothing is left to consume. Consumer.
func (r *Ring) Empty() bool {
	_, ok := r.Front()
	return !ok
}

// Fill is how much is queued: messages, and bytes. Anyone may ask; a range that is half
// sent counts its messages as they leave.
func (r *Ring) Fill() (messages, bytes uint64) {
	popped, drained := r.popped.Load(), r.drained.Load() // before what is larger
	return r.messages.Load() - popped, r.bytes.Load() - drained
}
