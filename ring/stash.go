package ring

import (
	"encoding/binary"

	"github.com/fantail-io/fantail/ring/frame"
)

// Stash is a bounded queue of copied frames, for the policies that must keep messages for
// longer than the stream does. DropNewest keeps the first MaxLag messages; Conflate keeps
// one message a topic, the newest, in the place of the one that it replaces.
//
//	buffer  [ frame | frame | replaced | frame | … ]    frames, as in the stream
//	latest  topic → where its frame is (Conflate)
//
// It belongs to one goroutine. Its memory grows with what is queued, to at most MaxBytes;
// a message that does not fit is dropped with a gap, whatever the policy.
type Stash struct {
	// MaxMessages and MaxBytes bound the queue.
	MaxMessages, MaxBytes int
	// Conflate says that one message a topic is kept.
	Conflate bool

	buffer   []byte
	read     int            // consumed bytes of buffer
	husks    int            // bytes of buffer, beyond read, that are husks
	messages int            // queued
	latest   map[uint32]int // by topic: offset of its queued frame in buffer
	dropped  Gap            // since the last TakeGap: messages that were not queued
	replaced Gap            // since the last TakeGap: messages that newer ones replaced
}

// Push queues a copy of one frame and answers whether it was kept.
func (s *Stash) Push(f []byte) bool {
	h := frame.Get(f)
	if s.Conflate && s.replace(h, f) {
		return true
	}
	s.compact()
	if s.messages >= s.MaxMessages || len(s.buffer)-s.read-s.husks+len(f) > s.MaxBytes {
		extend(&s.dropped, h.Sequence, GapDropNewest)
		return false
	}
	if s.dropped.Count > 0 && s.messages > 0 {
		s.mark()
	}
	if s.Conflate {
		if s.latest == nil {
			s.latest = make(map[uint32]int)
		}
		s.latest[h.Topic] = len(s.buffer)
	}
	s.buffer = append(s.buffer, f...)
	s.messages++
	return true
}

// replace puts f in the place of its topic's queued frame, where there is one. One of
// another size moves to the end, and leaves a husk that Views passes over.
func (s *Stash) replace(h frame.Header, f []byte) bool {
	at, ok := s.latest[h.Topic]
	if !ok {
		return false
	}
	old := frame.Get(s.buffer[at:])
	extend(&s.replaced, old.Sequence, GapConflated)
	if frame.Aligned(int(old.Length)) == len(f) {
		copy(s.buffer[at:], f)
		return true
	}
	s.buffer[at+kindOffset] = 0 // a husk
	s.husks += frame.Aligned(int(old.Length))
	s.messages--
	delete(s.latest, h.Topic)
	return false
}

// kindOffset is where a header keeps its kind; no frame has kind 0.
const kindOffset = 4

// compact moves what is queued to the front once at least half of the buffer is of no use.
func (s *Stash) compact() {
	if s.read+s.husks == 0 || s.read+s.husks < len(s.buffer)/2 {
		return
	}
	to := 0
	for at := s.read; at < len(s.buffer); {
		h := frame.Get(s.buffer[at:])
		n := frame.Aligned(int(h.Length))
		if h.Kind != 0 {
			copy(s.buffer[to:], s.buffer[at:at+n])
			if s.Conflate && h.Kind != frame.Gap {
				s.latest[h.Topic] = to
			}
			to += n
		}
		at += n
	}
	s.buffer, s.read, s.husks = s.buffer[:to], 0, 0
}

// extend adds one sequence to a gap.
func extend(g *Gap, sequence uint64, reason GapReason) {
	if g.Count == 0 {
		*g = Gap{First: sequence, Last: sequence, Reason: reason}
	}
	g.First, g.Last = min(g.First, sequence), max(g.Last, sequence)
	g.Count++
}

// TakeGap answers what the subscriber must be told before the next message, one gap at a
// time: messages that others replaced, or that were dropped at this place of the queue. Call
// it before each View, until Gap.Count is 0.
func (s *Stash) TakeGap() Gap {
	if g := s.replaced; g.Count > 0 {
		s.replaced = Gap{}
		return g
	}
	if f := s.front(); f != nil && frame.Kind(f[kindOffset]) == frame.Gap {
		h := frame.Get(f)
		s.pop(frame.HeaderBytes)
		return Gap{First: h.Sequence, Last: uint64(h.Time), Reason: GapDropNewest,
			Count: uint64(h.Topic) | uint64(h.Publisher)<<32}
	}
	if s.messages > 0 {
		return Gap{} // what was dropped since belongs behind those
	}
	g := s.dropped
	s.dropped = Gap{}
	return g
}

// mark notes in the queue that messages were dropped after those that it holds. The mark
// has a frame's shape, with the gap in its header.
func (s *Stash) mark() {
	g := s.dropped
	s.dropped = Gap{}
	s.buffer = frame.Append(s.buffer, frame.Header{Kind: frame.Gap, Sequence: g.First,
		Time: int64(g.Last), Topic: uint32(g.Count), Publisher: uint32(g.Count >> 32)}, nil)
}

// Len is the number of messages queued.
func (s *Stash) Len() int { return s.messages }

// Bytes is the number of bytes queued, husks included.
func (s *Stash) Bytes() int { return len(s.buffer) - s.read }

// View is the next frame, padding included; nil where there is none. It is valid until the
// next call of any other method.
func (s *Stash) View() []byte {
	f := s.front()
	if f == nil || frame.Kind(f[kindOffset]) == frame.Gap {
		return nil
	}
	return f
}

// front is the next frame or mark.
func (s *Stash) front() []byte {
	for s.read < len(s.buffer) {
		f := s.buffer[s.read:]
		n := frame.Aligned(int(binary.LittleEndian.Uint32(f)))
		if f[kindOffset] != 0 {
			return f[:n:n]
		}
		s.read += n
		s.husks -= n
	}
	return nil
}

// Pop takes the frame that View has just answered off the queue.
func (s *Stash) Pop() {
	h := frame.Get(s.buffer[s.read:])
	if s.Conflate {
		delete(s.latest, h.Topic)
	}
	s.messages--
	s.pop(frame.Aligned(int(h.Length)))
}

func (s *Stash) pop(n int) {
	s.read += n
	if s.read == len(s.buffer) {
		s.buffer, s.read, s.husks = s.buffer[:0], 0, 0
	}
}
