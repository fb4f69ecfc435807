package perf

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/fantail-io/fantail/perf/worker"
	"github.com/fantail-io/fantail/ring"
)

// children are the processes of a round.
type children struct {
	subscribers []*worker.Process
	slow        *worker.Process // nil: there is none
	publisher   *worker.Process // nil: it is in this process
	delivered   []atomic.Uint64 // by process, as it says
	published   atomic.Uint64   // as the publisher's process says
}

func (c *children) close() {
	var all sync.WaitGroup
	for _, p := range append([]*worker.Process{c.slow, c.publisher}, c.subscribers...) {
		if p != nil {
			all.Go(func() { p.Close() })
		}
	}
	all.Wait()
}

// tellAll tells all subscribers.
func (c *children) tellAll(command string) {
	for _, p := range append([]*worker.Process{c.slow}, c.subscribers...) {
		if p != nil {
			_ = p.Tell(command) // one that has ended needs to be told nothing
		}
	}
}

func (c *children) sum() uint64 {
	var n uint64
	for i := range c.delivered {
		n += c.delivered[i].Load()
	}
	return n
}

// startChildren starts the subscribers, and the publisher where it is a process, and waits
// until they are ready. The children are to be closed also where it fails.
func (s *spec) startChildren(ctx context.Context, address string) (*children, error) {
	c := &children{delivered: make([]atomic.Uint64, s.Processes)}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for i := range s.Processes {
		many := s.Subscribers*(i+1)/s.Processes - s.Subscribers*i/s.Processes
		p, err := s.startSubscribers(address, many, s.Policy, i+1, &c.delivered[i])
		if err != nil {
			return c, err
		}
		c.subscribers = append(c.subscribers, p)
	}
	if s.slow {
		var ignored atomic.Uint64
		var err error
		c.slow, err = s.startSubscribers(address, 1, ring.Policy{Kind: ring.PolicyDropOldest},
			s.Processes+1, &ignored)
		if err != nil {
			return c, err
		}
	}
	if s.publisher == TCP {
		var err error
		if c.publisher, err = s.startPublisher(address, &c.published); err != nil {
			return c, err
		}
	}
	for _, p := range append([]*worker.Process{c.slow, c.publisher}, c.subscribers...) {
		if p == nil {
			continue
		}
		if err := p.Ready(ctx, nil); err != nil {
			return c, err
		}
	}
	return c, nil
}

// startSubscribers starts process number, which is so many of them, and keeps delivered up
// to date.
func (s *spec) startSubscribers(address string, many int, policy ring.Policy, number int,
	delivered *atomic.Uint64) (*worker.Process, error) {
	config := subscribeConfig{Address: address, Topic: s.topic, Size: s.Size, Form: s.form,
		Messages: s.Messages, Policy: policy, Subscribers: many}
	return worker.Start(SubscribeJob, config, worker.Options{
		Args: s.childArgs(SubscribeJob, number), OnProgress: func(v json.RawMessage) {
			var p subscribeProgress
			if json.Unmarshal(v, &p) == nil {
				delivered.Store(p.Delivered)
			}
		}})
}

// startPublisher starts the publisher's process, and keeps published up to date.
func (s *spec) startPublisher(address string, published *atomic.Uint64) (*worker.Process,
	error) {
	config := publishConfig{Address: address, Topic: s.topic, Size: s.Size, Form: s.form,
		Messages: s.Messages, Duration: s.Duration, Rate: s.Rate, Batch: s.Batch,
		Subscribers: s.Subscribers}
	return worker.Start(PublishJob, config, worker.Options{
		Args: s.childArgs(PublishJob, 1), OnProgress: func(v json.RawMessage) {
			var p publishProgress
			if json.Unmarshal(v, &p) == nil {
				published.Store(p.Published)
			}
		}})
}

func (c *Config) childArgs(job string, number int) []string {
	if c.ChildArgs == nil {
		return nil
	}
	return c.ChildArgs(job, number)
}
