package main

import (
	"fmt"
	"time"
)

// figures are what --stats compares from one line to the next.
type figures struct {
	at          time.Time
	published   uint64
	queued      uint64 // by the connections of now
	sent        uint64 // bytes
	connections int
	lag         uint64        // the longest queue, in messages
	lagTime     time.Duration // the oldest queued message's age
	dropped     uint64        // by the connections of now
	pressure    uint64        // claims that found the stream full
	rejected    uint64
}

func (s *server) figures() figures {
	st := s.door.Snapshot()
	stream := s.engine.Stream().Stats()
	f := figures{at: time.Now(), published: stream.Tail - 1, pressure: stream.BackPressure,
		connections: st.Open}
	for _, shard := range st.Shards {
		f.sent += shard.Sent
		for _, c := range shard.Conns {
			f.queued += c.Messages
			f.dropped += c.Dropped
			f.lag = max(f.lag, c.Lag)
			f.lagTime = max(f.lagTime, time.Duration(c.LagNanos))
		}
	}
	for _, n := range st.Rejected {
		f.rejected += n
	}
	return f
}

// line is one line of figures, since those before. What connections have that came or went
// meanwhile counts as far as it is there.
func (f figures) line(before figures) string {
	d := f.at.Sub(before.at)
	return fmt.Sprintf("stats: in %s/s, out %s/s, %s/s, connections %d, longest queue %s (%s), "+
		"dropped %s, back pressure %s, rejected %s",
		countText(perSecond(f.published-before.published, d)),
		countText(perSecond(rise(f.queued, before.queued), d)),
		bytesText(perSecond(f.sent-before.sent, d)), f.connections, countText(f.lag),
		timeText(f.lagTime), countText(f.dropped), countText(f.pressure), countText(f.rejected))
}

// rise is how much a figure has grown; 0 where it shrank because a connection went.
func rise(now, before uint64) uint64 { return now - min(now, before) }
