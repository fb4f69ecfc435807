package perf

import (
	"context"
	"errors"
	"fmt"

	"github.com/fantail-io/fantail/perf/ceiling"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/ring"
)

// topicName is the topic of all workloads, as OpenAMQ's tools had it.
const topicName = "test"

// OpenAMQ is the scenario that OpenAMQ was measured by: one publisher, many subscribers that
// all get every message. Rounds alternate with the ceiling, and where both kinds of
// publisher are asked for, with each other.
func OpenAMQ(ctx context.Context, c Config) (*report.Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	kinds := []string{c.Publisher}
	if c.Publisher == Both {
		kinds = []string{Embedded, TCP}
	}
	var list []*measured
	for _, kind := range kinds {
		list = append(list, &measured{spec: spec{Config: &c, workload: "openamq",
			topic: topicName, form: numbered, publisher: kind}})
	}
	r := newReport("openamq")
	if err := alternate(ctx, &c, r, list); err != nil {
		return nil, err
	}
	conclude(r, list)
	return r, nil
}

// alternate measures all of list, round by round, each round beside the ceiling.
func alternate(ctx context.Context, c *Config, r *report.Report, list []*measured) error {
	for i := range c.Rounds {
		top, err := c.ceiling(ctx, i, r)
		if err != nil {
			return err
		}
		for _, m := range list {
			m.spec.step = fmt.Sprintf("round %d of %d", i+1, c.Rounds)
			switch {
			case m.spec.stopped:
				m.spec.step += ", one stopped"
			case m.spec.slow:
				m.spec.step += ", all read"
			case len(list) > 1:
				m.spec.step += ", " + m.spec.publisher
			}
			if err := m.measure(ctx); err != nil {
				return err
			}
			if top.PerSecond > 0 {
				m.ceilings = append(m.ceilings, top)
			}
		}
	}
	return nil
}

// measure adds a round.
func (m *measured) measure(ctx context.Context) error {
	o, err := m.spec.run(ctx)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", m.spec.workload, m.spec.step, err)
	}
	m.rounds = append(m.rounds, o)
	x := m.round(len(m.rounds) - 1)
	m.spec.Progress(Status{Workload: m.spec.workload, Step: m.spec.step, Done: true,
		Published: o.published, Delivered: o.counts.Received,
		PublishedPerS: x.PublishedPerS, DeliveredPerS: x.DeliveredPerS})
	return nil
}

// ceiling measures the bare kernel; nothing where that is not wanted, or not possible, which
// the report then notes.
func (c *Config) ceiling(ctx context.Context, round int, r *report.Report) (ceiling.Result,
	error) {
	if c.Ceiling < 0 {
		return ceiling.Result{}, nil
	}
	step := fmt.Sprintf("ceiling %d of %d", round+1, c.Rounds)
	c.Progress(Status{Workload: r.Workload, Step: step})
	top, err := ceiling.Run(ctx, ceiling.Config{Subscribers: c.Subscribers,
		PayloadBytes: c.Size, Duration: c.Ceiling, WriteBytes: c.CeilingWrite})
	if errors.Is(err, ring.ErrNotSupported) {
		if round == 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("no share of the ceiling: %v", err))
		}
		return top, nil
	}
	if err != nil {
		return top, err
	}
	c.Progress(Status{Workload: r.Workload, Step: step, Done: true,
		Delivered: uint64(top.Deliveries), DeliveredPerS: top.PerSecond})
	return top, nil
}

// conclude fills the report with what was measured: one result is the main one, several are
// parts.
func conclude(r *report.Report, list []*measured) {
	for _, m := range list {
		r.Parts = append(r.Parts, m.result())
	}
	if len(r.Parts) == 1 {
		r.Result, r.Parts = r.Parts[0], nil
	}
}
