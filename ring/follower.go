package ring

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/ring/counter"
	"github.com/fantail-io/fantail/ring/invariant"
)

// reading is the bit of a follower's word that says: I am looking at this block now.
const reading = 1

// lapped stands for the block of a follower that has lost its own: it has no messages.
var lapped = &Block{index: make([]atomic.Uint64, 1)}

// Message says where a committed frame is.
type Message struct {
	Block    *Block
	Sequence uint64
	Topic    uint32
	Offset   uint32 // of the frame, in the block
	Length   uint32 // of the frame, in bytes, without padding
}

// Follower reads the stream behind its own cursor. It belongs to one goroutine; Cursor
// alone is anyone's.
type Follower struct {
	_ pad
	// word is the number of the block that the follower needs, and the reading bit. The
	// owner writes it; whoever wants blocks reads it. pairs(hazard)
	word   atomic.Uint64
	cursor atomic.Uint64 // the next sequence it will read, as of its last Release
	_      pad
	gating atomic.Bool  // whether it holds blocks back
	since  atomic.Int64 // when somebody first had to wait for it; see patience
	_      pad
	// The owner's.
	stream   *Stream
	block    *Block
	number   uint64 // of block
	index    uint32 // in block
	next     uint64 // the sequence there
	lossy    bool   // may be lapped, so it must say what it reads
	held     bool   // word is set by Hold, not by reading on
	wakeAt   uint64 // the block at which those who wait for space are woken
	patience time.Duration
	stuck    struct { // Stream.mu
		cursor uint64
		claims uint32
		since  int64
	}
	_ counter.Pad
}

// FollowOptions say how a follower and the stream depend on each other.
type FollowOptions struct {
	// Lossy followers never hold blocks back: they may be lapped, and are told.
	Lossy bool
	// Patience makes a follower gate only so long: a publisher that waits for it for this
	// long laps it. Zero: for ever. Without meaning for lossy followers.
	Patience time.Duration
	// Held followers read on at once but keep what Hold says: for those who hand ranges of
	// the stream to others. They gate, whatever Lossy and Patience say.
	Held bool
}

// Follow adds a follower that will see every message claimed from now on.
func (s *Stream) Follow(o FollowOptions) *Follower {
	if o.Held {
		o.Lossy, o.Patience = false, 0
	}
	f := &Follower{stream: s, lossy: o.Lossy || o.Patience > 0, held: o.Held,
		patience: o.Patience}
	f.gating.Store(!o.Lossy)
	s.mu.Lock()
	defer s.mu.Unlock()
	f.block = s.current.Load()
	f.number = f.block.number.Load()
	f.index = f.block.claims()
	f.next = f.block.base.Load() + uint64(f.index)
	f.wakeAt = f.number
	f.word.Store(f.number << 1)
	f.cursor.Store(f.next)
	s.mu.followers = append(s.mu.followers, f)
	return f
}

// Close ends the following; the stream is held back no more.
func (f *Follower) Close() {
	s := f.stream
	s.mu.Lock()
	if i := slices.Index(s.mu.followers, f); i >= 0 {
		s.mu.followers = slices.Delete(s.mu.followers, i, i+1)
	}
	s.mu.Unlock()
	s.space.Wake()
}

// Cursor is the next sequence that the follower will read, as of its last Release.
func (f *Follower) Cursor() uint64 { return f.cursor.Load() }

// Next is the sequence that the follower will read next. The owner only.
func (f *Follower) Next() uint64 { return f.next }

// Number is the number of the block that the follower reads. The owner only.
func (f *Follower) Number() uint64 { return f.number }

// Acquire begins a turn of reading. Where the follower was lapped it goes on at the oldest
// message that is left, and says what it missed: Gap.Count is 0 where it missed nothing.
func (f *Follower) Acquire() Gap {
	if !f.lossy {
		return Gap{}
	}
	f.word.Store(f.number<<1 | reading) // pairs(hazard)
	invariant.Yield()
	if f.stream.head.Load() <= f.number {
		return Gap{}
	}
	return f.rejoin()
}

// rejoin moves a lapped follower to the head of the stream.
func (f *Follower) rejoin() Gap {
	s := f.stream
	for {
		number := s.head.Load()
		f.word.Store(number<<1 | reading) // pairs(hazard)
		invariant.Yield()
		b := s.at(number)
		invariant.Yield()
		if s.head.Load() != number { // else b is that block, and stays it
			continue
		}
		f.number, f.block, f.index = number, b, 0
		if f.patience > 0 { // it gates again, from here on
			f.since.Store(0)
			f.gating.Store(true)
		}
		base := b.base.Load()
		missed := base - f.next
		f.next = base
		if missed == 0 {
			return Gap{}
		}
		return Gap{First: base - missed, Last: base - 1, Count: missed, Reason: GapLapped}
	}
}

// Read answers the next committed message; ok is false where there is none now. Between
// Acquire and Release only. What it answers stays readable until the next Read or Release;
// for a Held follower, until Hold passes its block.
func (f *Follower) Read() (m Message, ok bool) {
	for {
		e := entry(f.block.index[f.index].Load()) // pairs(index)
		if e == stateOpen {
			if !f.cross() {
				return Message{}, false
			}
			continue
		}
		sequence := f.next
		f.index++
		f.next++
		if e.state() != stateCommit {
			continue
		}
		return Message{Block: f.block, Sequence: sequence, Topic: e.topic(),
			Offset: e.offset(), Length: e.length()}, true
	}
}

// cross moves from the end of a sealed block to the start of the next, if there is one.
func (f *Follower) cross() bool {
	s := f.stream
	sealed := f.block.sealed.Load()
	if sealed == 0 || f.index != sealed-1 {
		return false
	}
	number := f.number + 1
	if s.current.Load().number.Load() < number {
		return false // sealed, and its successor waits for space
	}
	if f.lossy {
		f.word.Store(number<<1 | reading) // pairs(hazard)
	}
	invariant.Yield()
	b := s.at(number) // before head is checked: later, another block may be in its place
	invariant.Yield()
	if f.lossy && s.head.Load() > number {
		f.number, f.block, f.index = number, lapped, 0 // Acquire will say so
		return false
	}
	f.number, f.block, f.index = number, b, 0
	if !f.held {
		if !f.lossy {
			f.word.Store(number << 1)
		}
		f.passed(number)
	}
	return true
}

// Hold says that no block before number is needed any more. For Held followers. What was
// given up before cannot be held again, nor what was not read yet be given up.
func (f *Follower) Hold(number uint64) {
	if number = min(number, f.number); number > f.word.Load()>>1 {
		f.word.Store(number << 1)
		f.passed(number)
	}
}

// passed follows each step of word, and wakes who waits for space now and then.
func (f *Follower) passed(number uint64) {
	if f.patience > 0 { // it gets on: its patience starts anew
		f.since.Store(0)
		f.gating.Store(true)
	}
	if number >= f.wakeAt || number == f.stream.current.Load().number.Load() {
		f.wakeAt = number + uint64(len(f.stream.blocks)/8)
		f.stream.space.Wake()
	}
}

// Release ends a turn of reading: what was read may be reused from now on.
func (f *Follower) Release() {
	if f.lossy {
		f.word.Store(f.number << 1) // before head is loaded, and waiters are looked for
		if f.stream.head.Load() > f.number {
			f.stream.space.Wake() // its block may have been waiting for this
		}
	}
	if f.cursor.Load() != f.next {
		f.cursor.Store(f.next)
	}
}

// SkipTo passes unread messages up to sequence, which must not lie beyond the stream's
// tail, and answers how many there were. Between Acquire and Release.
func (f *Follower) SkipTo(sequence uint64) (skipped uint64) {
	from := f.next
	for f.next < sequence && f.block != lapped {
		end := f.block.base.Load() + uint64(f.block.claims())
		to := min(end, sequence)
		f.index += uint32(to - f.next)
		f.next = to
		if f.next < sequence && !f.cross() {
			break
		}
	}
	return f.next - from
}

// Ready reports whether Read would find a message. Between Acquire and Release.
func (f *Follower) Ready() bool {
	if f.block.index[f.index].Load() != stateOpen {
		return true
	}
	sealed := f.block.sealed.Load()
	return sealed != 0 && f.index == sealed-1 &&
		f.stream.current.Load().number.Load() > f.number
}

// gates reports whether the follower, at block at, holds the stream back. One that was
// lapped does not, until it has found out. Under Stream.mu.
func (f *Follower) gates(now int64, at, head uint64) bool {
	if at < head || !f.gating.Load() {
		return false
	}
	since := f.since.Load()
	if f.patience == 0 || since == 0 || now-since < int64(f.patience) {
		return true
	}
	f.gating.Store(false)
	return false
}
