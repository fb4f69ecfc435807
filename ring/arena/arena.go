package arena

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/fantail-io/fantail/ring/invariant"
)

const (
	// MinBlockBytes is the smallest block: a page.
	MinBlockBytes = 4 << 10
	// MaxBlockBytes is the largest block: 16 MiB.
	MaxBlockBytes = 16 << 20
	// MaxBytes bounds an arena: 64 GiB, or 1 GiB where addresses have 32 bits.
	MaxBytes = 1 << (30 + 6*(^uint(0)>>63))
)

// ErrExhausted says that every block is on loan.
var ErrExhausted = errors.New("arena: every block is on loan")

// Config sizes an arena.
type Config struct {
	// BlockBytes is the size of a block: a power of two, 4 KiB to 16 MiB. Zero: 256 KiB.
	BlockBytes int
	// Blocks is how many there are: at least 1, together at most 64 GiB. Zero: 256.
	Blocks int
}

func (c Config) withDefaults() (Config, error) {
	if c.BlockBytes == 0 {
		c.BlockBytes = 256 << 10
	}
	if c.Blocks == 0 {
		c.Blocks = 256
	}
	if c.BlockBytes < MinBlockBytes || c.BlockBytes > MaxBlockBytes ||
		c.BlockBytes&(c.BlockBytes-1) != 0 {
		return c, fmt.Errorf("arena: BlockBytes %d is not a power of two from %d to %d",
			c.BlockBytes, MinBlockBytes, MaxBlockBytes)
	}
	if c.Blocks < 1 || c.Blocks > MaxBytes/c.BlockBytes {
		return c, fmt.Errorf("arena: %d blocks of %d bytes are outside 1 block to %d bytes",
			c.Blocks, c.BlockBytes, int64(MaxBytes))
	}
	return c, nil
}

// Arena is a fixed number of equal blocks.
type Arena struct {
	config Config
	memory memory
	blocks []*Block
	mu     struct {
		sync.Mutex
		free   []*Block // newest first: what was returned last is still in the cache
		closed bool
	}
}

// Block is one piece of an arena, on loan.
type Block struct {
	arena   *Arena
	bytes   []byte
	holders atomic.Int32
	loaned  []byte // Arena.mu: in builds that check themselves, the stack that loaned it
}

// New maps an arena and touches all of its pages, with huge pages where the system has
// them. Close gives the memory back.
func New(c Config) (*Arena, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &Arena{config: c}
	if a.memory, err = mapMemory(c.BlockBytes * c.Blocks); err != nil {
		return nil, fmt.Errorf("arena: map %d bytes: %w", c.BlockBytes*c.Blocks, err)
	}
	for i := c.Blocks - 1; i >= 0; i-- {
		from, to := i*c.BlockBytes, (i+1)*c.BlockBytes
		a.blocks = append(a.blocks, &Block{arena: a, bytes: a.memory.bytes[from:to:to]})
	}
	a.mu.free = append(a.mu.free, a.blocks...)
	return a, nil
}

// BlockBytes is the size of every block.
func (a *Arena) BlockBytes() int { return a.config.BlockBytes }

// Loan takes a block, with the caller as its only holder. Its bytes are undefined.
func (a *Arena) Loan() (*Block, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.mu.free) == 0 {
		return nil, ErrExhausted
	}
	b := a.mu.free[len(a.mu.free)-1]
	a.mu.free = a.mu.free[:len(a.mu.free)-1]
	b.holders.Store(1)
	if invariant.Enabled {
		b.loaned = debug.Stack()
	}
	return b, nil
}

// OnLoan is the number of blocks that somebody holds.
func (a *Arena) OnLoan() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.config.Blocks - len(a.mu.free)
}

// Close unmaps the arena. It answers an error, and keeps the memory, while blocks are on
// loan: their holders could not survive it.
func (a *Arena) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mu.closed {
		return nil
	}
	if loaned := a.config.Blocks - len(a.mu.free); loaned > 0 {
		err := fmt.Errorf("arena: close with %d of %d blocks on loan", loaned, a.config.Blocks)
		for _, b := range a.blocks {
			if invariant.Enabled && b.holders.Load() > 0 {
				return fmt.Errorf("%w, one of them since\n%s", err, b.loaned)
			}
		}
		return err
	}
	a.mu.closed = true
	a.mu.free, a.blocks = nil, nil
	a.config.Blocks = 0
	return a.memory.unmap()
}

// Bytes is the block's memory. It may be touched until the caller's Return.
func (b *Block) Bytes() []byte { return b.bytes }

// Retain adds a holder. The caller must be one already.
func (b *Block) Retain() {
	if n := b.holders.Add(1); invariant.Enabled && n < 2 {
		panic("arena: Retain of a block that nobody holds")
	}
}

// Mangle overwrites b, so that whoever still reads it notices, in builds that check
// themselves (see package invariant).
func Mangle(b []byte) {
	if !invariant.Enabled || len(b) == 0 {
		return
	}
	b[0] = 0xDB
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// Return ends one hold; the last one gives the block back.
func (b *Block) Return() {
	n := b.holders.Add(-1)
	if n > 0 {
		return
	}
	if n < 0 {
		panic("arena: Return of a block that nobody holds")
	}
	Mangle(b.bytes)
	b.arena.mu.Lock()
	defer b.arena.mu.Unlock()
	b.arena.mu.free = append(b.arena.mu.free, b)
}
