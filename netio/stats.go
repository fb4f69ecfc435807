package netio

import (
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// ShardStats are a shard's figures since its start.
type ShardStats struct {
	Sender      string
	Connections int
	Turns       uint64
	Parks       uint64 // times that it slept
	Followed    uint64 // messages taken from the stream
	Submissions uint64 // batches of bytes given to a socket
	Syscalls    uint64 // system calls of sending
	Other       uint64 // system calls of reading and polling
	Sent        uint64 // bytes
	Received    uint64 // bytes
	Stalls      uint64 // submissions that a socket did not take whole
	LongestTurn uint64 // nanoseconds
	// Delivered and Dropped count the messages of connections that are closed by now: those
	// that left the queue for the kernel, and those that were lost to it.
	Delivered, Dropped uint64
	// Sizes counts submissions by bytes: class i has those from 2^(i-1) to 2^i-1.
	Sizes [32]uint64
	Conns []ConnStats
}

// ConnStats are one connection's figures.
type ConnStats struct {
	Name         string // what the peer calls itself
	Remote       string
	Policy       ring.Policy
	Messages     uint64 // queued for it
	Lag          uint64 // messages queued and not sent
	LagBytes     uint64
	HighFill     uint64 // most messages that were ever queued
	Bytes        uint64 // sent
	Received     uint64 // bytes
	Submissions  uint64
	Stalls       uint64
	StagedBytes  int
	Dropped      uint64 // messages lost, for all reasons
	DroppedBy    [ring.GapReasons]uint64
	LagNanos     int64 // age of the oldest message that is queued; 0: none
	BackPressure bool  // its session waits for room in the stream
}

// Snapshot answers the shard's figures. It asks the shard's goroutine, between two turns.
func (s *Shard) Snapshot() (ShardStats, error) {
	var st ShardStats
	done := make(chan struct{})
	err := s.Do(func() {
		st = s.snapshot()
		close(done)
	})
	if err != nil {
		return st, err
	}
	<-done
	return st, nil
}

func (s *Shard) snapshot() ShardStats {
	c := &s.stats
	st := ShardStats{Sender: s.sender.Name(), Connections: len(s.conns) - len(s.free),
		Turns: c.turns.Load(), Parks: c.parks.Load(), Followed: c.followed.Load(),
		Submissions: c.submits.Load(), Syscalls: c.syscalls.Load(), Other: c.other.Load(),
		Sent: c.sent.Load(), Received: c.received.Load(), Stalls: c.stalls.Load(),
		LongestTurn: c.gap.Load(), Delivered: c.delivered.Load(), Dropped: c.lost.Load()}
	for i := range c.sizes {
		st.Sizes[i] = c.sizes[i].Load()
	}
	for _, conn := range s.conns {
		if conn != nil {
			st.Conns = append(st.Conns, conn.snapshot(s.now))
		}
	}
	return st
}

func (c *Conn) snapshot(now int64) ConnStats {
	st := ConnStats{Name: c.name, Remote: c.remote.String(), Policy: c.policy,
		Messages: c.stats.messages.Load(), HighFill: c.stats.highFill.Load(),
		Bytes: c.stats.bytes.Load(), Received: c.stats.received.Load(),
		Submissions: c.stats.submits.Load(), Stalls: c.stats.stalls.Load(),
		BackPressure: c.paused}
	if c.out != nil {
		st.StagedBytes = len(c.out.B) - c.sent
	}
	switch {
	case c.ring != nil:
		st.Lag, st.LagBytes = c.ring.Fill()
		st.LagNanos = c.age(now)
	case c.stash != nil:
		st.Lag, st.LagBytes = uint64(c.stash.Len()), uint64(c.stash.Bytes())
	}
	for i := range c.stats.dropped {
		st.DroppedBy[i] = c.stats.dropped[i].Load()
		st.Dropped += st.DroppedBy[i]
	}
	return st
}

// age is how long ago the oldest queued message was published, in nanoseconds.
func (c *Conn) age(now int64) int64 {
	if c.offered > 0 {
		return 0
	}
	c.stageRest()
	front, ok := c.ring.Front()
	if !ok || front.Gap.Reason != ring.GapNone || front.Bytes == 0 {
		return 0
	}
	h := frame.Get(front.Block.Bytes(front.Offset, frame.HeaderBytes))
	return max(now-h.Time, 0)
}
