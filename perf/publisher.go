package perf

import (
	"context"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/netio/client"
	"github.com/fantail-io/fantail/perf/load"
	"github.com/fantail-io/fantail/perf/usage"
	"github.com/fantail-io/fantail/perf/worker"
)

// PublishJob is the kind of the child that publishes over TCP.
const PublishJob = "publish"

// start is the command that sets a publisher off.
const start = "start"

// publishConfig is what the child is told.
type publishConfig struct {
	Address  string
	Topic    string
	Size     int
	Form     form
	Messages uint64
	Duration time.Duration
	Rate     float64
	Batch    int
	// Subscribers get what is published; see flow.
	Subscribers int
}

// publishProgress is what it says on the way.
type publishProgress struct{ Published uint64 }

// publishResult is what it ends in.
type publishResult struct {
	Published uint64
	Started   int64 // on load.Clock
	LateNS    int64
	Usage     usage.Delta
	RSS       uint64
}

// publish is the child's job.
func publish(s *worker.Session) (any, error) {
	var c publishConfig
	if err := s.Config(&c); err != nil {
		return nil, err
	}
	ctx := s.Context()
	to, err := dialTarget(ctx, c.Address, c.Topic, nil)
	if err != nil {
		return nil, err
	}
	defer to.client.Close()
	f := &flow{pattern: load.NewPattern(c.Size), form: c.Form, messages: c.Messages,
		duration: c.Duration, rate: c.Rate, batch: c.Batch, clock: load.NewClock(),
		subscribers: c.Subscribers}
	if err := s.Ready(nil); err != nil {
		return nil, err
	}
	if command, err := s.Next(); err != nil || command != start {
		return nil, fmt.Errorf("perf: told %q: %v", command, err)
	}
	before := usage.Now()
	done := make(chan struct{})
	defer close(done)
	go tellPublished(done, s, f)
	if err := f.run(ctx, to); err != nil {
		return nil, err
	}
	r := publishResult{Published: f.published.Load(), Started: f.started,
		LateNS: int64(f.late), Usage: usage.Now().Since(before)}
	_, r.RSS = usage.Resident()
	return r, nil
}

func tellPublished(done chan struct{}, s *worker.Session, f *flow) {
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if s.Progress(publishProgress{Published: f.published.Load()}) != nil {
				return
			}
		case <-done:
			return
		}
	}
}

// remote is a publisher on the other side of a connection.
type remote struct {
	client    *client.Client
	publisher *client.Publisher
}

func dialTarget(ctx context.Context, address, topic string, token []byte) (*remote, error) {
	c, err := client.Dial(ctx, address, client.Config{Token: token})
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	p, err := c.Publisher(topic)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("perf: publisher: %w", err)
	}
	return &remote{client: c, publisher: p}, nil
}

func (r *remote) put(ctx context.Context, payloads [][]byte) error {
	for _, b := range payloads {
		if err := r.publisher.PublishContext(ctx, b); err != nil {
			return fmt.Errorf("perf: publish: %w", err)
		}
	}
	return nil
}

func (r *remote) flush(ctx context.Context) error {
	if err := r.client.Flush(ctx); err != nil {
		return fmt.Errorf("perf: flush: %w", err)
	}
	return nil
}
