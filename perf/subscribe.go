package perf

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/netio/client"
	"github.com/fantail-io/fantail/perf/hist"
	"github.com/fantail-io/fantail/perf/load"
	"github.com/fantail-io/fantail/perf/usage"
	"github.com/fantail-io/fantail/perf/worker"
	"github.com/fantail-io/fantail/ring"
)

// SubscribeJob is the kind of the child that subscribes.
const SubscribeJob = "subscribe"

// stop is the command that ends a child's work before its time.
const stop = "stop"

// tellEvery is how often a child says how far it is.
const tellEvery = 250 * time.Millisecond

// sampleEvery is how many messages pass between two whose latency is taken at full load, as
// a mask: one clock reading in 64 messages costs less than 1 ns a message.
const sampleEvery = 63

// subscribeConfig is what the child is told.
type subscribeConfig struct {
	Address     string
	Topic       string
	Subscribers int
	Size        int
	Form        form
	Messages    uint64 // countdown: where it starts
	Policy      ring.Policy
}

// subscribeProgress is what it says on the way.
type subscribeProgress struct{ Delivered uint64 }

// subscribeResult is what it ends in.
type subscribeResult struct {
	Each    []subscriberResult
	Latency *hist.Histogram
	Usage   usage.Delta
	RSS     uint64
}

// subscriberResult is what one subscriber got. Times are of load.Clock; zero: never.
type subscriberResult struct {
	Counts      load.Counts
	First, Last int64
	P50, P99    int64
	Max         int64
}

// subscriber is one subscription's state.
type subscriber struct {
	tracker  *load.Tracker
	left     uint32 // countdown: what should come next
	counts   load.Counts
	sequence uint64 // the last one
	latency  *hist.Histogram
	result   subscriberResult
	ended    bool
}

// receiver is the child: all of its subscribers, served by one goroutine.
type receiver struct {
	config    subscribeConfig
	pattern   *load.Pattern
	clock     load.Clock
	group     *client.Group
	client    *client.Client
	all       []*subscriber
	of        map[*client.Subscription]*subscriber
	last      *client.Subscription // whose state is
	current   *subscriber
	open      int // that wait for their end
	merged    *hist.Histogram
	delivered atomic.Uint64 // so far, for the progress
	before    usage.Sample
}

// subscribe is the child's job.
func subscribe(s *worker.Session) (any, error) {
	r := &receiver{clock: load.NewClock(), merged: hist.New(),
		of: make(map[*client.Subscription]*subscriber)}
	if err := s.Config(&r.config); err != nil {
		return nil, err
	}
	r.pattern = load.NewPattern(r.config.Size)
	defer r.close()
	if err := r.connect(s.Context()); err != nil {
		return nil, err
	}
	r.before = usage.Now() // from here to the first message it is idle
	if err := s.Ready(nil); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	go func() {
		for command := range s.Commands() {
			if command == stop {
				cancel()
			}
		}
	}()
	go r.tell(ctx, s)
	if err := r.receive(ctx); err != nil {
		return nil, err
	}
	return r.result(), nil
}

func (r *receiver) connect(ctx context.Context) error {
	var err error
	if r.group, err = client.NewGroup(client.GroupConfig{}); err != nil {
		return fmt.Errorf("perf: %w", err)
	}
	if r.client, err = client.Dial(ctx, r.config.Address, client.Config{}); err != nil {
		return fmt.Errorf("perf: %w", err)
	}
	for range r.config.Subscribers {
		s, err := r.client.Subscribe(ctx, r.config.Topic,
			client.SubscribeOptions{Policy: r.config.Policy})
		if err != nil {
			return fmt.Errorf("perf: subscribe: %w", err)
		}
		if err := r.group.Add(s); err != nil {
			return fmt.Errorf("perf: subscribe: %w", err)
		}
		sub := &subscriber{tracker: load.NewTracker(r.pattern), left: uint32(r.config.Messages)}
		if r.config.Form == stamped {
			sub.latency = hist.New()
		}
		r.of[s] = sub
		r.all = append(r.all, sub)
	}
	r.open = len(r.all)
	return nil
}

func (r *receiver) close() {
	if r.group != nil {
		r.group.Close()
	}
	if r.client != nil {
		r.client.Close()
	}
}

// receive polls until every subscriber has seen the end, or ctx is done: a stop is no error.
func (r *receiver) receive(ctx context.Context) error {
	take := r.take // once: a method value is an allocation
	for r.open > 0 {
		n, err := r.group.Poll(ctx, take)
		if n > 0 {
			r.delivered.Add(uint64(n))
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("perf: poll: %w", err)
		}
	}
	return nil
}

// take checks one message.
func (r *receiver) take(s *client.Subscription, m *client.Message) {
	if s != r.last {
		r.last, r.current = s, r.of[s]
	}
	sub := r.current
	if sub.result.First == 0 {
		sub.result.First = r.clock.Now()
	}
	switch {
	case m.IsGap():
		sub.tracker.Gap(m.Gap.Count)
		return
	case len(m.Payload) == 0:
		r.end(sub)
		return
	}
	if m.Sequence <= sub.sequence {
		sub.counts.Sequences++
	}
	sub.sequence = m.Sequence
	switch r.config.Form {
	case stamped:
		if due, ok := sub.tracker.SeeStamped(m.Payload); ok {
			sub.latency.Record(r.clock.Now() - due)
		}
	case countdown:
		sub.count(r, m.Payload)
	default:
		sub.tracker.See(m.Payload)
		if sub.tracker.Next()&sampleEvery == 0 {
			r.merged.Record(time.Now().UnixNano() - m.Time)
		}
	}
}

// count checks a message of the AMS benchmark. Its clock stops at the one that says 1.
func (sub *subscriber) count(r *receiver, payload []byte) {
	if !r.pattern.CheckCountdown(payload, sub.left) {
		sub.counts.Corrupt++
	} else {
		sub.counts.Received++
		sub.counts.Bytes += uint64(len(payload))
	}
	sub.left--
	if sub.left == 0 {
		sub.result.Last = r.clock.Now()
	}
}

func (r *receiver) end(sub *subscriber) {
	if sub.ended {
		return // the end is said again where somebody may have missed it
	}
	sub.ended = true
	r.open--
	if sub.result.Last == 0 {
		sub.result.Last = r.clock.Now()
	}
}

// tell says how far it is, until ctx is done.
func (r *receiver) tell(ctx context.Context, s *worker.Session) {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if s.Progress(subscribeProgress{Delivered: r.delivered.Load()}) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (r *receiver) result() subscribeResult {
	result := subscribeResult{Latency: r.merged, Usage: usage.Now().Since(r.before)}
	_, result.RSS = usage.Resident()
	for _, sub := range r.all {
		sub.result.Counts = sub.tracker.Counts()
		sub.result.Counts.Add(sub.counts)
		if sub.latency != nil {
			l := sub.latency.Summary()
			sub.result.P50, sub.result.P99, sub.result.Max = l.P50, l.P99, l.Max
			r.merged.Merge(sub.latency)
		}
		result.Each = append(result.Each, sub.result)
	}
	return result
}
