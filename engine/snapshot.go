package engine

import (
	"github.com/fantail-io/fantail/ring"
)

// Snapshot is every figure of an engine at one moment. Reading it disturbs nobody.
type Snapshot struct {
	Stream        ring.Stats
	Topics        int
	Published     PublisherStats // of all publishers, closed ones included
	Publishers    []PublisherStats
	Subscriptions []SubscriptionStats
}

// PublisherStats are one publisher's figures, or a sum of several.
type PublisherStats struct {
	Topic    string
	Number   uint32
	Messages uint64 // committed
	Bytes    uint64 // of payload
	Refused  uint64 // answers of ErrBackPressure
	Waits    uint64 // times that PublishContext slept
}

func (p *PublisherStats) add(o PublisherStats) {
	p.Messages += o.Messages
	p.Bytes += o.Bytes
	p.Refused += o.Refused
	p.Waits += o.Waits
}

// SubscriptionStats are one in-process subscription's figures.
type SubscriptionStats struct {
	Pattern   string
	Policy    Policy
	Messages  uint64 // handed out
	Bytes     uint64 // of their payloads
	Waits     uint64 // times that PollContext slept
	Cursor    uint64 // the next sequence it will read
	Lag       uint64 // messages of the stream that it has not read
	MaxLag    uint64 // the highest lag that a policy with MaxLag has seen
	Dropped   uint64 // messages lost, for all reasons
	DroppedBy [ring.GapReasons]uint64
}

func (p *Publisher) stats() PublisherStats {
	return PublisherStats{Topic: p.name, Number: p.number, Messages: p.messages.Load(),
		Bytes: p.bytes.Load(), Refused: p.refused.Load(), Waits: p.waits.Load()}
}

func (s *Subscription) stats(tail uint64) SubscriptionStats {
	st := SubscriptionStats{Pattern: s.pattern.String(), Policy: s.policy,
		Messages: s.messages.Load(), Bytes: s.bytes.Load(), Waits: s.waits.Load(),
		MaxLag: s.lag.Load()}
	if s.follower != nil {
		st.Cursor = s.follower.Cursor()
		st.Lag = tail - min(tail, st.Cursor)
	} else {
		s.queue.mu.Lock()
		st.Lag = uint64(s.queue.mu.stash.Len())
		s.queue.mu.Unlock()
	}
	for i := range s.dropped {
		st.DroppedBy[i] = s.dropped[i].Load()
		st.Dropped += st.DroppedBy[i]
	}
	return st
}

// Snapshot answers the engine's figures. Doors have their own.
func (e *Engine) Snapshot() Snapshot {
	s := Snapshot{Stream: e.stream.Stats(), Topics: e.topics.Len()}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Published = e.mu.retired
	for p := range e.mu.publishers {
		st := p.stats()
		s.Published.add(st)
		s.Publishers = append(s.Publishers, st)
	}
	for sub := range e.mu.subscriptions {
		s.Subscriptions = append(s.Subscriptions, sub.stats(s.Stream.Tail))
	}
	return s
}
