package ring

import (
	"sync/atomic"

	"github.com/fantail-io/fantail/ring/arena"
	"github.com/fantail-io/fantail/ring/frame"
)

// pad is two cache lines: what one goroutine writes never shares a line, or the line that
// the hardware fetches beside it, with what another one reads.
type pad [128]byte

// Block is a piece of the stream: frames, and the index that says where they are. Its
// methods are for those who hold the stream back from reusing it.
type Block struct {
	_ pad
	// tail is claims<<32 | bytes claimed. Bytes beyond the block's size mean that it takes
	// no more claims; so does a block that waits in the pool.
	tail atomic.Uint64
	_    pad
	// sealed is the number of claims that succeeded, plus one; 0 while there may be more.
	sealed atomic.Uint32
	// number is the block's place in the stream, from 0. Stale readers of the directory
	// compare it; it is written before the directory names the block.
	number atomic.Uint64
	base   atomic.Uint64   // sequence of the first claim; written before number
	index  []atomic.Uint64 // an entry a claim, and one zero at the end that is never claimed
	loan   *arena.Block
	bytes  []byte
	aside  int64 // Stream.mu: when it was set aside, in nanoseconds of the sweeper's clock
	_      pad
}

func newBlock(loan *arena.Block) *Block {
	b := &Block{loan: loan, bytes: loan.Bytes()}
	b.index = make([]atomic.Uint64, len(b.bytes)/frame.HeaderBytes+1)
	b.tail.Store(uint64(len(b.bytes)) + 1)
	return b
}

// Bytes is a view of length bytes at offset.
func (b *Block) Bytes(offset, length uint32) []byte {
	end := offset + length
	return b.bytes[offset:end:end]
}

// Number is the block's place in the stream, from 0.
func (b *Block) Number() uint64 { return b.number.Load() }

// claims is how many claims succeeded so far.
func (b *Block) claims() uint32 {
	for {
		if sealed := b.sealed.Load(); sealed != 0 {
			return sealed - 1
		}
		if t := b.tail.Load(); uint32(t) <= uint32(len(b.bytes)) {
			return uint32(t >> 32)
		}
		// The claim that fills the block has been counted, and is about to seal it.
	}
}

// open makes an idle block the stream's number'th, and takes claims from then on.
func (b *Block) open(number, base uint64) {
	b.base.Store(base)
	b.sealed.Store(0)
	b.number.Store(number)
}

// answered reports whether every claim was committed, or given up by its owner, so that
// nobody can still be writing.
func (b *Block) answered() bool {
	for i := range b.claims() {
		if s := entry(b.index[i].Load()).state(); s == stateOpen || s == stateExpired {
			return false
		}
	}
	return true
}

// expire gives up the open claims among the first n, and reports how many there were.
func (b *Block) expire(n uint32) (expired uint64) {
	for i := range n {
		if b.index[i].Load() == stateOpen && b.index[i].CompareAndSwap(stateOpen, stateExpired) {
			expired++
		}
	}
	return expired
}
