package perf

import (
	"context"
	"fmt"

	"github.com/fantail-io/fantail/perf/report"
)

// LatencyConfig is what Latency measures.
type LatencyConfig struct {
	Config
	// Counts are the numbers of subscribers. Empty: 1 and 64.
	Counts []int
}

// DefaultRate is how many messages are due each second where Latency is told no Rate.
const DefaultRate = 10_000

// Latency measures an open loop: messages are due at fixed times, and a delivery's latency
// counts from the time at which its message was due, so that whatever holds the publisher
// up is not left out.
func Latency(ctx context.Context, l LatencyConfig) (*report.Report, error) {
	if len(l.Counts) == 0 {
		l.Counts = []int{1, 64}
	}
	if l.Rate == 0 {
		l.Rate = DefaultRate
	}
	if l.Publisher == Both {
		return nil, fmt.Errorf("%w: latency takes one kind of publisher", errConfig)
	}
	r := newReport("latency")
	var list []*measured
	for _, n := range l.Counts {
		c := l.Config
		c.Subscribers, c.Ceiling = n, -1
		c.Processes = min(max(1, c.Processes), n)
		m, err := openLoop("latency", c)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	for i := range list[0].spec.Rounds {
		for _, m := range list {
			m.spec.step = fmt.Sprintf("%d subscribers, round %d of %d", m.spec.Subscribers, i+1,
				m.spec.Rounds)
			if err := m.measure(ctx); err != nil {
				return nil, err
			}
		}
	}
	conclude(r, list)
	r.Workload = "latency"
	return r, nil
}

// openLoop answers a measurement at c.Rate.
func openLoop(workload string, c Config) (*measured, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Size < stampedBytes {
		return nil, fmt.Errorf("%w: a payload that says when it was due has at least %d bytes, "+
			"not %d", errConfig, stampedBytes, c.Size)
	}
	return &measured{spec: spec{Config: &c, workload: workload, topic: topicName, form: stamped,
		publisher: c.Publisher}}, nil
}
