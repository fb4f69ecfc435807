package netio

import (
	"fmt"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/wait"
)

const (
	// ringSlots is a connection's first ring; it doubles as it must, up to maxRingSlots.
	ringSlots    = 16
	maxRingSlots = 16 << 10
	// gatherBytes is the range below which a copy costs less than an I/O vector of its own.
	gatherBytes = 4 << 10
	// scratchBytes bounds what is gathered for one batch of submissions.
	scratchBytes = 1 << 20
	// readBytes is the buffer that a shard's connections are read into. It grows to twice the
	// longest unit that a session waits for.
	readBytes = 256 << 10
	// readRounds bounds how often one connection is read in one turn.
	readRounds = 2
	// viewsMax is the most I/O vectors of one submission.
	viewsMax = 64
	// stashBytes bounds what is copied for one DropNewest or Conflate connection: 16 MiB.
	stashBytes = 16 << 20
	// owedMax is how many bytes of answers may wait for a peer before no more is read from it:
	// who asks on without reading must not fill memory.
	owedMax = 64 << 10
	// controlMax is how many control bytes may wait for a peer before it is ended as slow.
	controlMax = 16 << 20
	// finishTimeout is how long a connection that must end may take to deliver why.
	finishTimeout = time.Second
)

// ShardConfig says how a shard works. Stream and Route must be set; the rest may be zero.
type ShardConfig struct {
	Stream *ring.Stream
	// Route answers the connections that want a topic's messages. It is called on the
	// shard's goroutine; equal answers should be the same slice, which must not change.
	Route func(topic uint32) []*Conn
	// Wait is what the shard does when there is nothing to do. Zero: wait.Adaptive.
	Wait wait.Strategy
	// SubmitBytes bounds one submission to one socket: 4 KiB to 16 MiB. Zero: 128 KiB.
	SubmitBytes int
	// FollowBytes bounds what one turn takes from the stream: 4 KiB to 16 MiB. Zero: 128 KiB.
	FollowBytes int
	// Sender is how bytes enter the kernel: "auto", "writev", "uring", or "portable".
	// Empty: "auto".
	Sender string
	// CPU pins the shard's thread to that core where it is positive: core CPU-1. Zero: no.
	CPU int
	// Tick is how often sessions are asked for the time: 1 ms to 10 s. Zero: 100 ms.
	Tick time.Duration
}

func (c ShardConfig) withDefaults() (ShardConfig, error) {
	if c.SubmitBytes == 0 {
		c.SubmitBytes = 128 << 10
	}
	if c.FollowBytes == 0 {
		c.FollowBytes = 128 << 10
	}
	if c.Tick == 0 {
		c.Tick = 100 * time.Millisecond
	}
	if c.Sender == "" {
		c.Sender = "auto"
	}
	for _, v := range []struct {
		name  string
		value int
	}{{"SubmitBytes", c.SubmitBytes}, {"FollowBytes", c.FollowBytes}} {
		if v.value < 4<<10 || v.value > 16<<20 {
			return c, fmt.Errorf("netio: %s %d is outside 4 KiB to 16 MiB", v.name, v.value)
		}
	}
	if c.Tick < time.Millisecond || c.Tick > 10*time.Second {
		return c, fmt.Errorf("netio: Tick %v is outside 1ms to 10s", c.Tick)
	}
	if c.Stream == nil || c.Route == nil {
		return c, fmt.Errorf("netio: a shard needs a Stream and a Route")
	}
	return c, nil
}
