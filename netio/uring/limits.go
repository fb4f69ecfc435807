package uring

import (
	"errors"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

const (
	// MaxEntries bounds the sends of one submission: 4,096.
	MaxEntries = 4096
	// MaxFiles bounds the table of files: 32,768.
	MaxFiles = 32 << 10
	// MaxSlot is the greatest slot: 1,048,575.
	MaxSlot = 1<<20 - 1
	// MaxPieces is the most pieces of one send: 1,024.
	MaxPieces = sys.MaxIovecs

	// minKernel is the first that OpenUring accepts; older ones differ too much.
	minKernel = "Linux 5.12"

	// enterWeight bounds what one system call does, and so how long the collector may have
	// to wait for it, to about 0.1 ms: bytes, with sendWeight for each send, which takes the
	// kernel as long as to copy so many.
	enterWeight = 512 << 10
	sendWeight  = 16 << 10

	defaultEntries = 256
	defaultIdle    = time.Millisecond
)

// Errors that a Ring answers.
var (
	// ErrFull says that every entry is taken: submit first.
	ErrFull = errors.New("uring: every entry is taken")
	// ErrClosed says that the Ring was closed.
	ErrClosed = errors.New("uring: closed")
	// ErrSlot says that a slot holds no file, or is out of range.
	ErrSlot = errors.New("uring: no file in that slot")
)

// UnsupportedError says that io_uring is missing or forbidden here, and why. It is
// ring.ErrNotSupported.
type UnsupportedError = sys.UnsupportedError

// Iovec is one piece of a send: see its Set.
type Iovec = sys.Iovec

// Config says how a Ring is made. The zero Config works.
type Config struct {
	// Entries is how many sends are submitted at once, rounded up to a power of two.
	// Zero: 256. At most 4,096.
	Entries int
	// Files is the size of a table of files for the kernel to know slots by, instead of
	// descriptors; slots beyond it stay descriptors. Zero: none, since it was not seen to
	// save anything, and the kernel keeps a connection open for as long as the table has it.
	// At most 32,768, or less where RLIMIT_NOFILE or memory is.
	Files int
	// SQPoll makes a kernel thread take submissions while it is awake. It occupies a core,
	// and is for measuring.
	SQPoll bool
	// SQIdle is how long that thread spins before it sleeps, in whole milliseconds. Zero:
	// 1 ms. At most 10 s.
	SQIdle time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if c.Entries == 0 {
		c.Entries = defaultEntries
	}
	if c.SQIdle == 0 {
		c.SQIdle = defaultIdle
	}
	switch {
	case c.Entries < 1 || c.Entries > MaxEntries:
		return c, fmt.Errorf("uring: Entries %d is outside 1 to %d", c.Entries, MaxEntries)
	case c.Files < 0 || c.Files > MaxFiles:
		return c, fmt.Errorf("uring: Files %d is outside 0 to %d", c.Files, MaxFiles)
	case c.SQIdle < time.Millisecond || c.SQIdle > 10*time.Second:
		return c, fmt.Errorf("uring: SQIdle %v is outside 1ms to 10s", c.SQIdle)
	}
	return c, nil
}
