package perf

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/perf/hist"
	"github.com/fantail-io/fantail/perf/load"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/perf/usage"
)

const (
	// readyTimeout bounds the time until all children are connected.
	readyTimeout = 60 * time.Second
	// quietTimeout ends a round in which nothing has been delivered for so long.
	quietTimeout = 10 * time.Second
	// endEvery is how often the end is said again: a lossy subscriber may have dropped it.
	endEvery = 250 * time.Millisecond
)

// spec is what one round measures.
type spec struct {
	*Config
	workload  string
	step      string // for the progress
	topic     string
	form      form
	publisher string
	// slow adds a DropOldest subscriber in a process of its own, which stopped stops while
	// messages are published. It is in no figure but its own.
	slow, stopped bool
	// idle publishes nothing.
	idle bool
}

// outcome is what one round came to.
type outcome struct {
	published   uint64
	seconds     float64 // from the first publish to the last delivery
	counts      load.Counts
	each        []subscriberResult
	slow        *subscriberResult
	latency     *hist.Histogram
	late        time.Duration
	door        doorCounts
	server      usage.Delta
	subscribers usage.Delta
	publisher   usage.Delta // of a process of its own
	rss         report.RSS
	foreign     float64
	timeline    []report.Tick
}

// run measures once.
func (s *spec) run(ctx context.Context) (*outcome, error) {
	srv, err := startServer(s.Config)
	if err != nil {
		return nil, err
	}
	defer srv.close()
	p, err := srv.engine.Publisher(s.topic)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	c, err := s.startChildren(ctx, srv.address())
	defer c.close()
	if err != nil {
		return nil, err
	}
	o := &outcome{}
	f := &flow{pattern: load.NewPattern(s.Size), form: s.form, messages: s.Messages,
		duration: s.Duration, rate: s.Rate, batch: s.Batch, clock: load.NewClock(),
		subscribers: s.Subscribers}
	runtime.GC() // what the last round left behind is not this one's
	counts, before := srv.counts(), usage.Now()
	watch := s.watch(c, f)
	err = s.publishBeside(ctx, c, f, &embedded{p}, o)
	if err == nil {
		err = s.finish(ctx, c, p, o, f.started)
	}
	o.timeline = watch()
	if err != nil {
		return nil, err
	}
	o.server = usage.Now().Since(before)
	o.door = srv.counts().since(counts)
	o.rss.Server, _ = usage.Resident()
	own := o.server.CPUSeconds() + o.subscribers.CPUSeconds() + o.publisher.CPUSeconds()
	o.foreign = max(0, o.server.HostBusySeconds-own) /
		(o.server.WallSeconds * cores())
	return o, nil
}

// publishBeside is publish beside a slow subscriber, where there is one, stopped.
func (s *spec) publishBeside(ctx context.Context, c *children, f *flow, to target,
	o *outcome) error {
	if !s.stopped {
		return s.publish(ctx, c, f, to, o)
	}
	if err := c.slow.Pause(); err != nil {
		return err
	}
	err := s.publish(ctx, c, f, to, o)
	return errors.Join(err, c.slow.Resume())
}

// rest lets time pass in which nothing is published.
func (s *spec) rest(ctx context.Context, f *flow) error {
	f.started = f.clock.Now()
	timer := time.NewTimer(s.Duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// publish lets the messages out and sets what the publisher knows of the outcome.
func (s *spec) publish(ctx context.Context, c *children, f *flow, to target, o *outcome) error {
	if s.idle {
		return s.rest(ctx, f)
	}
	if c.publisher == nil {
		err := f.run(ctx, to)
		o.published, o.late = f.published.Load(), f.late
		return err
	}
	if err := c.publisher.Tell(start); err != nil {
		return err
	}
	var r publishResult
	if err := c.publisher.Result(ctx, &r); err != nil {
		return err
	}
	o.published, o.late, o.publisher = r.Published, time.Duration(r.LateNS), r.Usage
	f.started = r.Started
	f.published.Store(r.Published)
	return nil
}

// finish says the end until all subscribers have seen it, and collects what they got.
func (s *spec) finish(ctx context.Context, c *children, p *engine.Publisher, o *outcome,
	started int64) error {
	results := make([]subscribeResult, len(c.subscribers))
	failures := make([]error, len(c.subscribers)+1)
	done := make(chan struct{})
	var all sync.WaitGroup
	for i, child := range c.subscribers {
		all.Go(func() { failures[i] = child.Result(ctx, &results[i]) })
	}
	var slow subscribeResult
	if c.slow != nil {
		all.Go(func() { failures[len(c.subscribers)] = c.slow.Result(ctx, &slow) })
	}
	go func() { all.Wait(); close(done) }()
	if err := s.sayEnd(ctx, c, p, done); err != nil {
		return err
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	o.collect(results, started)
	if len(slow.Each) > 0 {
		o.slow = &slow.Each[0]
	}
	return nil
}

// sayEnd publishes the end again and again until done. Where nothing is delivered any more,
// it tells the subscribers to stop: the figures say what is missing.
func (s *spec) sayEnd(ctx context.Context, c *children, p *engine.Publisher,
	done chan struct{}) error {
	ticker := time.NewTicker(endEvery)
	defer ticker.Stop()
	last, heard := c.sum(), time.Now()
	for {
		// No room for the end means that it will be said again.
		if err := p.Publish(nil); err != nil && err != engine.ErrBackPressure {
			return fmt.Errorf("perf: end: %w", err)
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if now := c.sum(); now != last {
			last, heard = now, time.Now()
		}
		if time.Since(heard) > quietTimeout {
			heard = time.Now()
			c.tellAll(stop)
		}
	}
}
