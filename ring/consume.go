package ring

import (
	"encoding/binary"

	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/invariant"
)

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
	head := r.head.Load()
	tail := r.tail.Load() // pairs(tail); before extent: a slot that is not the last is final
	invariant.Yield()
	for at := head; at < tail && len(dst) < cap(dst); at++ {
		s := &r.slots[at&r.mask]
		var done front // of this slot
		if at == head {
			done = r.front
		}
		if s.reason != GapNone {
			if g := s.gap(); g.Count > done.missed {
				if len(dst) > 0 {
					return dst
				}
				g.First, g.Count = max(g.First, done.last+1), g.Count-done.missed
				return append(dst, Range{First: g.First, Gap: g})
			}
		} else {
			extent := s.extent.Load() // pairs(extent): those bytes are written
			if bytes := uint32(extent>>32) - done.bytes; bytes > 0 {
				dst = append(dst, Range{Block: s.block, Offset: s.offset + done.bytes, Bytes: bytes,
					Count: uint32(extent) - done.counted, First: s.first + uint64(done.counted)})
				continue
			}
		}
		if at == head && at+1 < tail { // finished, and final
			r.leave()
			head++
		}
	}
	return dst
}

// Consume takes bytes off the front; they must be there, with no gap before them. Consumer.
func (r *Ring) Consume(bytes uint32) {
	r.drained.Add(uint64(bytes))
	popped := uint32(0)
	for bytes > 0 {
		tail := r.tail.Load() // before extent: a slot that is not the last is final
		invariant.Yield()
		s := &r.slots[r.head.Load()&r.mask]
		if s.reason == GapNone {
			extent := s.extent.Load() // pairs(extent)
			invariant.Yield()
			take := min(bytes, uint32(extent>>32)-r.front.bytes)
			bytes -= take
			r.front.bytes += take
			if r.front.bytes < uint32(extent>>32) {
				break
			}
			popped += uint32(extent) - r.front.counted
			r.front.counted, r.front.countedBytes = uint32(extent), r.front.bytes
		} else if invariant.Enabled && s.gap().Count > r.front.missed {
			panic("ring: Consume passes over a gap")
		}
		if r.head.Load()+1 == tail {
			break
		}
		r.leave()
	}
	if popped > 0 {
		r.popped.Add(uint64(popped))
	}
}

// ConsumeGap takes g, a gap that Front has just answered, off the front. What the producer
// has added to it meanwhile stays. Consumer.
func (r *Ring) ConsumeGap(g Gap) {
	r.front.missed += g.Count
	r.front.last = g.Last
	head := r.head.Load()
	tail := r.tail.Load() // before extent: a slot that is not the last is final
	if head+1 < tail && r.slots[head&r.mask].gap().Count == r.front.missed {
		r.leave()
	}
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
	if popped > 0 {
		r.popped.Add(popped)
	}
	return rest
}

// leave gives the front slot back to the producer, who has published a later one.
func (r *Ring) leave() {
	r.front = front{}
	r.head.Store(r.head.Load() + 1) // pairs(head)
}

// Drop takes the front range off, and answers what of it was left; the messages that were
// consumed in part, which Split tells of, are the caller's to finish first. Consumer, while
// it holds the block.
func (r *Ring) Drop() (Range, bool) {
	g, ok := r.Front()
	if !ok {
		return Range{}, false
	}
	if g.Gap.Reason != GapNone {
		r.ConsumeGap(g.Gap)
		return g, true
	}
	invariant.Yield() // the producer may extend it meanwhile
	r.Consume(g.Bytes)
	r.Split()
	return g, true
}

// Discard takes up to n whole messages off the front range, and says which; Gap.Count is 0
// where it holds none. A message that was consumed in part must be finished first: see
// Split. Consumer, while it holds the block.
func (r *Ring) Discard(n uint32, reason GapReason) Gap {
	g, ok := r.Front()
	if !ok || g.Gap.Reason != GapNone || n == 0 {
		return Gap{}
	}
	invariant.Yield() // the producer may extend it meanwhile
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
	r.Split()
	return Gap{First: g.First, Last: g.First + uint64(n) - 1, Count: uint64(n), Reason: reason}
}

// Empty reports whether nothing is left to consume. Consumer.
func (r *Ring) Empty() bool {
	_, ok := r.Front()
	return !ok
}
