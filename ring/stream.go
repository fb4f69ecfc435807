package ring

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/ring/arena"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/wait"
)

// Errors of claims. They are flow, and never wrapped on the publish path.
var (
	// ErrBackPressure says that every block is held by a gating follower: try again later.
	ErrBackPressure = errors.New("ring: back pressure: the stream is full")
	// ErrTooLarge says that no block could hold the message.
	ErrTooLarge = errors.New("ring: the message is larger than a block")
	// ErrClaimExpired says that the claim was open for longer than ClaimTimeout, and that
	// followers have gone past it.
	ErrClaimExpired = errors.New("ring: the claim has expired")
	// ErrClaimClosed says that the claim was committed or aborted before.
	ErrClaimClosed = errors.New("ring: the claim is closed")
	// ErrClosed says that the stream takes no more claims.
	ErrClosed = errors.New("ring: closed")
)

// Stream is a sequence of frames, in blocks that are reused. See the package comment.
type Stream struct {
	_       pad
	current atomic.Pointer[Block] // where claims are made
	closed  atomic.Bool
	full    atomic.Bool // see Full
	_       pad
	// head is the number of the oldest block that is still in the stream. It is stored
	// before a block is judged free, and loaded by followers after they have said which
	// block they read: one of the two sees the other. pairs(hazard)
	head atomic.Uint64
	_    pad
	// Readers are woken when something was committed, Space when blocks were passed.
	readers, space wait.Group
	_              pad

	config    Config
	clock     func() int64            // nanoseconds since the Unix epoch; tests have their own
	directory []atomic.Pointer[Block] // by number, modulo its length: twice the blocks
	arena     *arena.Arena
	blocks    []*Block

	mu struct {
		sync.Mutex
		free      []*Block    // ready to open, newest last
		aside     []*Block    // out of the stream, but someone may still write or read there
		followers []*Follower // all of them
		pinned    []uint64    // scratch: the blocks that lapped followers are reading
		stats     Stats
		pressed   bool // somebody's patience is running out
		released  bool // the memory is gone
	}
}

// Stats are figures of a stream, counted since its start.
type Stats struct {
	Blocks       int    // in all
	Free         int    // ready to be written
	SetAside     int    // out of the stream, waiting for a claim's owner or a reader
	Rolls        uint64 // blocks opened
	BackPressure uint64 // claims refused because every block was gated
	Lapped       uint64 // blocks taken from followers that do not gate
	Expired      uint64 // claims given up by Sweep
	Followers    int
	Head, Tail   uint64 // the oldest block's first sequence, and the next to be claimed
}

// NewStream maps the stream's memory. Close gives it back.
func NewStream(c Config) (*Stream, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Stream{config: c, clock: func() int64 { return time.Now().UnixNano() }}
	s.arena, err = arena.New(arena.Config{BlockBytes: c.BlockBytes, Blocks: c.Blocks})
	if err != nil {
		return nil, err
	}
	size := 2
	for size < 2*c.Blocks {
		size *= 2
	}
	s.directory = make([]atomic.Pointer[Block], size)
	for range c.Blocks {
		loan, err := s.arena.Loan()
		if err != nil {
			return nil, err
		}
		s.blocks = append(s.blocks, newBlock(s, loan))
	}
	s.mu.free = append(s.mu.free, s.blocks...)
	s.install(0, 1)
	return s, nil
}

// Close refuses further claims and gives the memory back. Every follower must be closed
// and every claim answered first. Otherwise the memory stays, since somebody may still be
// using it; the error says what is left, and Close can be called again.
func (s *Stream) Close() error {
	s.Refuse()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.released {
		return nil
	}
	if n := len(s.mu.followers); n > 0 {
		return fmt.Errorf("ring: close with %d followers", n)
	}
	open := 0
	for _, b := range s.blocks {
		if !b.answered() {
			open++
		}
	}
	if open > 0 {
		return fmt.Errorf("ring: close with open claims in %d blocks", open)
	}
	s.mu.released = true
	for _, b := range s.blocks {
		b.loan.Return()
	}
	return s.arena.Close()
}

// Refuse makes every later claim answer ErrClosed; followers can still drain the stream.
func (s *Stream) Refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Swap(true) {
		return
	}
	// Fill the block, as a claim past its end does, so that the next one must roll.
	b := s.current.Load()
	more := makeTail(uint32(len(b.bytes)+frame.Align), 0)
	t := tail(b.tail.Add(uint64(more)))
	if t.bytes()-more.bytes() <= uint64(len(b.bytes)) {
		b.sealed.Store(t.claims() + 1)
	}
}

// Readers is the group of waiters that a commit wakes.
func (s *Stream) Readers() *wait.Group { return &s.readers }

// Space is the group of waiters that are woken when followers have passed blocks.
func (s *Stream) Space() *wait.Group { return &s.space }

// Full reports whether the last claim that wanted a block found none, and the number of the
// oldest block, which somebody then holds. Readers are woken when that becomes so: who hands
// out ranges may have to give some up.
func (s *Stream) Full() (oldest uint64, full bool) {
	if !s.full.Load() {
		return 0, false
	}
	return s.head.Load(), true
}

// MaxPayload is the longest payload, in bytes, that a claim can have.
func (s *Stream) MaxPayload() int { return s.config.maxPayload() }

// BlockBytes is the size of a block.
func (s *Stream) BlockBytes() int { return s.config.BlockBytes }

// Blocks is the number of blocks.
func (s *Stream) Blocks() int { return s.config.Blocks }

// Tail is the sequence that the next claim will get.
func (s *Stream) Tail() uint64 {
	for {
		b := s.current.Load()
		number := b.number.Load()
		tail := b.base.Load() + uint64(b.claims())
		if s.current.Load() == b && b.number.Load() == number {
			return tail
		}
	}
}

// Stats answers the stream's figures at this moment.
func (s *Stream) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.mu.stats
	st.Blocks, st.Free, st.SetAside = len(s.blocks), len(s.mu.free), len(s.mu.aside)
	st.Followers = len(s.mu.followers)
	current := s.current.Load()
	st.Tail = current.base.Load() + uint64(current.claims())
	st.Head = s.at(s.head.Load()).base.Load()
	return st
}

// at is the block with that number, which must be in the stream.
func (s *Stream) at(number uint64) *Block {
	return s.directory[number&uint64(len(s.directory)-1)].Load()
}

// ClaimTimeout is how long a claim may stay open.
func (s *Stream) ClaimTimeout() time.Duration { return s.config.ClaimTimeout }
