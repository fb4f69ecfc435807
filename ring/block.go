package ring

import (
	"runtime"
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
	_    pad
	tail atomic.Uint64 // see tail
	_    pad
	// sealed is the number of claims that succeeded, plus one; 0 while there may be more.
	sealed atomic.Uint32
	// number is the block's place in the stream, from 0. Stale readers of the directory
	// compare it; it is written before the directory names the block.
	number atomic.Uint64
	base   atomic.Uint64   // sequence of the first claim; written before number
	index  []atomic.Uint64 // an entry a claim, and one zero at the end that is never claimed
	stream *Stream
	loan   *arena.Block
	bytes  []byte
	aside  int64 // Stream.mu: when it was set aside, in nanoseconds of the sweeper's clock
	_      pad
}

// tail is the word that claims add to: how many they were, and the units that they asked
// for. Units beyond the block's size mean that it takes no more claims; so does a block that
// waits in the pool. Claims that came too late have been added too, each by a goroutine
// that has then seen the block full: 8 million at once would have to, to overflow it.
//
//	63                        24 23          0
//	+---------------------------+-------------+
//	|      units of 8 bytes  40 |  claims 24  |
//	+---------------------------+-------------+
type tail uint64

const (
	claimBits = 24
	claimMask = 1<<claimBits - 1
)

// A block's claims fit their field, or this does not compile.
var _ [claimMask - MaxBlockBytes/frame.HeaderBytes]struct{}

func makeTail(bytes, claims uint32) tail {
	return tail(bytes/frame.Align)<<claimBits | tail(claims)
}

func (t tail) claims() uint32 { return uint32(t) & claimMask }
func (t tail) bytes() uint64  { return uint64(t) >> claimBits * frame.Align }

func newBlock(s *Stream, loan *arena.Block) *Block {
	b := &Block{stream: s, loan: loan, bytes: loan.Bytes()}
	b.index = make([]atomic.Uint64, len(b.bytes)/frame.HeaderBytes+1)
	b.sealed.Store(1)
	b.fill()
	return b
}

// Bytes is a view of length bytes at offset.
func (b *Block) Bytes(offset, length uint32) []byte {
	end := offset + length
	return b.bytes[offset:end:end]
}

// Number is the block's place in the stream, from 0.
func (b *Block) Number() uint64 { return b.number.Load() }

// full reports whether the block takes no more claims.
func (b *Block) full() bool { return tail(b.tail.Load()).bytes() > uint64(len(b.bytes)) }

// fill makes an empty block look full.
func (b *Block) fill() { b.tail.Store(uint64(makeTail(uint32(len(b.bytes)+frame.Align), 0))) }

// claims is how many claims succeeded so far.
func (b *Block) claims() uint32 {
	for {
		if sealed := b.sealed.Load(); sealed != 0 {
			return sealed - 1
		}
		if t := tail(b.tail.Load()); t.bytes() <= uint64(len(b.bytes)) {
			return t.claims()
		}
		runtime.Gosched() // the claim that fills the block was added, and is about to seal it
	}
}

// open makes an idle block the stream's number'th, and takes claims from then on.
func (b *Block) open(number, base uint64) {
	b.base.Store(base)
	b.sealed.Store(0)
	b.number.Store(number)
}

// recycle makes the block as good as new.
func (b *Block) recycle() {
	clear(b.index[:b.claims()])
	b.sealed.Store(1) // it has no claims
	arena.Mangle(b.bytes)
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
