package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/engine/topic"
	"github.com/fantail-io/fantail/ring"
)

// Errors that callers compare with errors.Is. The first three are flow, and are answered
// bare.
var (
	// ErrBackPressure says that Wait subscribers hold the whole stream: try again later.
	ErrBackPressure = ring.ErrBackPressure
	// ErrTooLarge says that a payload is longer than Engine.MaxPayload.
	ErrTooLarge = ring.ErrTooLarge
	// ErrClosed says that the engine, publisher or subscription was closed.
	ErrClosed = ring.ErrClosed
	// ErrClaimExpired says that a claim was open for longer than Config.ClaimTimeout.
	ErrClaimExpired = ring.ErrClaimExpired
	// ErrClaimClosed says that a claim was committed or aborted before.
	ErrClaimClosed = ring.ErrClaimClosed
	// ErrNotSupported is what a feature that this build or machine lacks answers.
	ErrNotSupported = ring.ErrNotSupported
	// ErrSlowConsumer says that policy Disconnect ended the subscription.
	ErrSlowConsumer = errors.New("engine: slow consumer: disconnected by its policy")
	// ErrTooMany says that a limit of Config is reached.
	ErrTooMany = errors.New("engine: too many")
)

// Config sizes an engine. The zero Config works: 64 MiB of stream, 65,536 topics.
type Config struct {
	// StreamBytes is the memory of the stream, and with it how far a subscriber can fall
	// behind: 4 blocks to 16 GiB (1 GiB on 32 bits), rounded up to whole blocks. Zero: 64 MiB.
	StreamBytes int
	// BlockBytes is the unit in which that memory is reused, and bounds a message: a power
	// of two from 64 KiB to 1 MiB. Zero: 256 KiB.
	BlockBytes int
	// MaxTopics bounds the topics ever named: 1 to 16,777,215. Zero: 65,536.
	MaxTopics int
	// MaxPublishers bounds open publishers. Zero: 1,048,576.
	MaxPublishers int
	// MaxSubscriptions bounds open in-process subscriptions. Zero: 65,536.
	MaxSubscriptions int
	// ClaimTimeout is how long a claim may stay open before subscribers go past it: 1 ms to
	// 1 h. Zero: 1 s.
	ClaimTimeout time.Duration
}

const (
	minBlockBytes  = 64 << 10
	maxStreamBytes = 1 << (30 + 4*(^uint(0)>>63)) // 16 GiB; 1 GiB with addresses of 32 bits
)

func (c Config) withDefaults() (Config, error) {
	setDefault(&c.BlockBytes, 256<<10)
	setDefault(&c.StreamBytes, max(64<<20, ring.MinBlocks*c.BlockBytes))
	setDefault(&c.MaxTopics, topic.DefaultMaxTopics)
	setDefault(&c.MaxPublishers, 1<<20)
	setDefault(&c.MaxSubscriptions, 65_536)
	switch {
	case c.BlockBytes < minBlockBytes || c.BlockBytes > ring.MaxBlockBytes ||
		c.BlockBytes&(c.BlockBytes-1) != 0:
		return c, fmt.Errorf("engine: BlockBytes %d is not a power of two from %d to %d",
			c.BlockBytes, minBlockBytes, ring.MaxBlockBytes)
	case c.StreamBytes < ring.MinBlocks*c.BlockBytes || c.StreamBytes > maxStreamBytes:
		return c, fmt.Errorf("engine: StreamBytes %d is outside %d (%d blocks) to %d",
			c.StreamBytes, ring.MinBlocks*c.BlockBytes, ring.MinBlocks, maxStreamBytes)
	case c.MaxTopics < 1 || c.MaxTopics >= ring.MaxTopics:
		return c, fmt.Errorf("engine: MaxTopics %d is outside 1 to %d", c.MaxTopics,
			ring.MaxTopics-1)
	case c.MaxPublishers < 1 || c.MaxSubscriptions < 1:
		return c, fmt.Errorf("engine: MaxPublishers %d and MaxSubscriptions %d must be positive",
			c.MaxPublishers, c.MaxSubscriptions)
	}
	return c, nil
}

func setDefault(v *int, def int) {
	if *v == 0 {
		*v = def
	}
}
