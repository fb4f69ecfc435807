package ring

import (
	"fmt"
	"time"

	"github.com/fantail-io/fantail/ring/frame"
)

const (
	// MinBlockBytes is the smallest block of a stream: 64 KiB (4 KiB in tests of this package).
	MinBlockBytes = 4 << 10
	// MaxBlockBytes is the largest: 1 MiB, which an index entry's offset can name.
	MaxBlockBytes = 1 << 20
	// MinBlocks is the fewest blocks that a stream works with.
	MinBlocks = 4
	// MaxTopics bounds topic numbers, which an index entry keeps in 24 bits.
	MaxTopics = 1 << 24
)

// Config sizes a stream. The zero Config is 64 MiB in blocks of 256 KiB.
type Config struct {
	// BlockBytes is the size of a block: a power of two from 4 KiB to 1 MiB. Zero: 256 KiB.
	// No frame is longer than a block.
	BlockBytes int
	// Blocks is how many there are: at least 4. Zero: 256.
	Blocks int
	// ClaimTimeout is how long a claim may stay open before Sweep may expire it: 1 ms to
	// 1 h. Zero: 1 s.
	ClaimTimeout time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if c.BlockBytes == 0 {
		c.BlockBytes = 256 << 10
	}
	if c.Blocks == 0 {
		c.Blocks = 256
	}
	if c.ClaimTimeout == 0 {
		c.ClaimTimeout = time.Second
	}
	if c.BlockBytes < MinBlockBytes || c.BlockBytes > MaxBlockBytes ||
		c.BlockBytes&(c.BlockBytes-1) != 0 {
		return c, fmt.Errorf("ring: BlockBytes %d is not a power of two from %d to %d",
			c.BlockBytes, MinBlockBytes, MaxBlockBytes)
	}
	if c.Blocks < MinBlocks {
		return c, fmt.Errorf("ring: %d blocks are fewer than %d", c.Blocks, MinBlocks)
	}
	if c.ClaimTimeout < time.Millisecond || c.ClaimTimeout > time.Hour {
		return c, fmt.Errorf("ring: ClaimTimeout %v is outside 1ms to 1h", c.ClaimTimeout)
	}
	return c, nil
}

// maxPayload is the longest payload that fits a block.
func (c Config) maxPayload() int { return c.BlockBytes - frame.HeaderBytes }
