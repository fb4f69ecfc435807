package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
)

// readyTimeout bounds how long a process may take to start, connect, and subscribe.
const readyTimeout = 20 * time.Second

// Measurement is one run of one workload on one peer.
type Measurement struct {
	Messages int    `json:"messages"`
	Received uint64 `json:"received"`
	Lost     uint64 `json:"lost"`
	Disorder uint64 `json:"disorder"`
	Torn     uint64 `json:"torn"`
	// GaveUp says that Drain passed before the last message had come to everyone.
	GaveUp bool `json:"gave_up"`
	// Seconds go from just before the first publish to the last delivery.
	Seconds        float64 `json:"seconds"`
	PublishedPerS  float64 `json:"published_per_s"`
	DeliveredPerS  float64 `json:"delivered_per_s"`
	InOutPerS      float64 `json:"in_out_per_s"`
	SubscriberPerS float64 `json:"subscriber_per_s"` // slowest; its first message to its last
	CPU            CPU     `json:"cpu_s_per_million_deliveries"`
	RSS            RSS     `json:"rss_bytes"`
	// Latency is from the due time to the subscriber; Late is the part of it that had passed
	// when the publisher published.
	Latency *load.Quantiles `json:"latency_ns,omitempty"`
	Late    *load.Quantiles `json:"late_ns,omitempty"`
}

// CPU is CPU seconds, in and outside the kernel, per million deliveries, which is the same as
// microseconds per delivery.
type CPU struct {
	// Server is the broker's; where it publishes itself, the publisher is in it.
	Server      float64 `json:"server"`
	Publisher   float64 `json:"publisher"`
	Subscribers float64 `json:"subscribers"`
}

// RSS is resident memory at the end of the run.
type RSS struct {
	Server     uint64 `json:"server"`
	Subscriber uint64 `json:"subscriber"` // the process of all subscribers
}

// Options of a measurement.
type Options struct {
	// Drain is how long to wait, after the last message was published, for it to come to
	// everybody: at least 1 ms. Zero: 30 s.
	Drain time.Duration
}

// Measure runs w on p once.
func Measure(ctx context.Context, p Peer, w load.Workload, o Options) (Measurement, error) {
	m, err := measure(ctx, p, w, o)
	if err != nil {
		return m, fmt.Errorf("%s: %w", p.Name(), err)
	}
	return m, nil
}

func measure(ctx context.Context, p Peer, w load.Workload, o Options) (Measurement, error) {
	if err := w.Check(); err != nil {
		return Measurement{}, err
	}
	starting, cancel := context.WithTimeoutCause(ctx, readyTimeout,
		fmt.Errorf("not ready after %v", readyTimeout))
	defer cancel()
	b, err := p.StartBroker(starting, w)
	if err != nil {
		return Measurement{}, err
	}
	defer b.Close()
	subscribers, err := startReady(starting, p.Subscribers(b.Address(), w))
	if err != nil {
		return Measurement{}, err
	}
	defer subscribers.Close()
	publisher := b.Publisher()
	if publisher == nil {
		publisher, err = startReady(starting, p.Publisher(b.Address(), w))
		if err != nil {
			return Measurement{}, err
		}
		defer publisher.Close()
	}
	before, err := b.Usage(starting)
	if err != nil {
		return Measurement{}, err
	}
	var sent published
	if err := publisher.Ask(ctx, askPublish, &sent); err != nil {
		return Measurement{}, err
	}
	got, gaveUp, err := collect(ctx, subscribers, o)
	if err != nil {
		return Measurement{}, err
	}
	after, err := b.Usage(ctx)
	if err != nil {
		return Measurement{}, err
	}
	m := evaluate(w, sent, got)
	m.GaveUp = gaveUp
	m.RSS = RSS{Server: after.RSSBytes, Subscriber: got.Usage.RSSBytes}
	perMillion := float64(max(m.Received, 1)) / 1e6
	m.CPU = CPU{Server: after.since(before).CPUSeconds / perMillion,
		Subscribers: got.Usage.CPUSeconds / perMillion}
	if b.Publisher() == nil {
		m.CPU.Publisher = sent.Usage.CPUSeconds / perMillion
	}
	return m, nil
}

func startReady(ctx context.Context, c child.Command) (*child.Process, error) {
	p, err := child.Start(c)
	if err != nil {
		return nil, err
	}
	if err := p.Receive(ctx, nil); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// errDrain ends the wait for messages that do not come.
var errDrain = errors.New("peer: drained for long enough")

// collect waits for the subscribers' report; after o.Drain it tells them to stop.
func collect(ctx context.Context, subscribers *child.Process, o Options) (r readings, gaveUp bool,
	err error) {
	if o.Drain == 0 {
		o.Drain = 30 * time.Second
	}
	draining, cancel := context.WithTimeoutCause(ctx, o.Drain, errDrain)
	defer cancel()
	err = subscribers.Receive(draining, &r)
	if !errors.Is(err, errDrain) {
		return r, false, err
	}
	stopping, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return r, true, subscribers.Ask(stopping, askStop, &r)
}

func evaluate(w load.Workload, sent published, got readings) Measurement {
	m := Measurement{Messages: sent.Messages}
	var last int64
	for _, r := range got.Meters {
		m.Received += r.Received
		m.Disorder += r.Disorder
		m.Torn += r.Torn
		last = max(last, r.LastNanos)
		if span := r.LastNanos - r.FirstNanos; r.Received > 1 && span > 0 {
			rate := float64(r.Received-1) / (float64(span) / 1e9)
			if m.SubscriberPerS == 0 || rate < m.SubscriberPerS {
				m.SubscriberPerS = rate
			}
		}
	}
	if all := uint64(sent.Messages) * uint64(w.Subscribers); all > m.Received {
		m.Lost = all - m.Received
	}
	last = max(last, sent.LastNanos)
	m.Seconds = float64(last-sent.FirstNanos) / 1e9
	m.PublishedPerS = float64(m.Messages) / m.Seconds
	m.DeliveredPerS = float64(m.Received) / m.Seconds
	m.InOutPerS = m.PublishedPerS + m.DeliveredPerS
	if w.Latencies() {
		m.Latency, m.Late = quantiles(got.Latencies), quantiles(sent.Late)
	}
	return m
}

func quantiles(b load.Bars) *load.Quantiles {
	l := load.NewLatencies()
	l.Add(b)
	q := l.Quantiles()
	return &q
}
