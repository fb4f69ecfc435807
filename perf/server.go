package perf

import (
	"context"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/engine/door/native"
	"github.com/fantail-io/fantail/perf/report"
)

// closeTimeout bounds how long a server may take to end.
const closeTimeout = 3 * time.Second

// server is an engine with a door on loopback.
type server struct {
	engine *engine.Engine
	door   *native.Listener
}

func startServer(c *Config) (*server, error) {
	e, err := engine.New(engine.Config{StreamBytes: c.StreamBytes, BlockBytes: blockBytes(c)})
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	door, err := native.Listen(e, "tcp4", "127.0.0.1:0", native.Config{Shards: c.Shards,
		Sender: c.Sender, SubmitBytes: c.SubmitBytes, MaxPerAddress: maxSubscribers,
		MaxConnections: maxSubscribers + 16})
	if err != nil {
		shutdown(e)
		return nil, fmt.Errorf("perf: %w", err)
	}
	return &server{engine: e, door: door}, nil
}

// blockBytes is 0, the engine's own choice, unless a message needs more.
func blockBytes(c *Config) int {
	if c.Size > 128<<10 {
		return 1 << 20
	}
	return 0
}

func (s *server) address() string { return s.door.Addr().String() }

func (s *server) close() { shutdown(s.engine) }

// shutdown ends an engine, and with it its doors. What was not delivered shows in the
// figures, so the error says nothing new.
func shutdown(e *engine.Engine) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = e.Close(ctx)
}

// doorCounts are the figures of all shards together.
type doorCounts struct {
	sender      string
	syscalls    uint64
	submissions uint64
	sent        uint64
	stalls      uint64
	sizes       [32]uint64
	waits       uint64 // publishes that had to wait
}

func (s *server) counts() doorCounts {
	var c doorCounts
	st := s.door.Snapshot()
	for _, shard := range st.Shards {
		c.sender = shard.Sender
		c.syscalls += shard.Syscalls + shard.Other
		c.submissions += shard.Submissions
		c.sent += shard.Sent
		c.stalls += shard.Stalls
		for i, n := range shard.Sizes {
			c.sizes[i] += n
		}
	}
	c.waits = s.engine.Snapshot().Published.Waits + st.Refused
	return c
}

// since is what was counted between the counts before and c.
func (c doorCounts) since(before doorCounts) doorCounts {
	c.syscalls -= before.syscalls
	c.submissions -= before.submissions
	c.sent -= before.sent
	c.stalls -= before.stalls
	c.waits -= before.waits
	for i := range c.sizes {
		c.sizes[i] -= before.sizes[i]
	}
	return c
}

// add sums the counts of two rounds.
func (c *doorCounts) add(o doorCounts) {
	c.sender = o.sender
	c.syscalls += o.syscalls
	c.submissions += o.submissions
	c.sent += o.sent
	c.stalls += o.stalls
	c.waits += o.waits
	for i := range c.sizes {
		c.sizes[i] += o.sizes[i]
	}
}

// batches is the distribution of submissions by size: class i has those under 2^i bytes.
func (c *doorCounts) batches() []report.Batch {
	var list []report.Batch
	for i, n := range c.sizes {
		if n > 0 || len(list) > 0 {
			list = append(list, report.Batch{UpToBytes: 1 << i, Count: n})
		}
	}
	for len(list) > 0 && list[len(list)-1].Count == 0 {
		list = list[:len(list)-1]
	}
	return list
}
