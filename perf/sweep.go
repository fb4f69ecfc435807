package perf

import (
	"context"
	"fmt"

	"github.com/fantail-io/fantail/perf/report"
)

// SweepConfig is what Sweep measures.
type SweepConfig struct {
	Config
	// Counts and Sizes are the grid. Empty: 1, 4, 16, 64, 256 subscribers, and 20, 200, 500,
	// 2,000, 20,000 bytes.
	Counts, Sizes []int
	// Shares are the loads of the saturation curve, in parts of what Subscribers × Size got
	// flat out. Empty: 0.1, 0.25, 0.5, 0.7, 0.8, 0.9. A negative one: no curve.
	Shares []float64
}

// Sweep measures a grid of subscribers and sizes, flat out, and then latency at rising loads
// for one cell of it.
func Sweep(ctx context.Context, s SweepConfig) (*report.Report, error) {
	if len(s.Counts) == 0 {
		s.Counts = []int{1, 4, 16, 64, 256}
	}
	if len(s.Sizes) == 0 {
		s.Sizes = []int{20, 200, 500, 2_000, 20_000}
	}
	if len(s.Shares) == 0 {
		s.Shares = []float64{0.1, 0.25, 0.5, 0.7, 0.8, 0.9}
	}
	r := newReport("sweep")
	for _, size := range s.Sizes {
		for _, n := range s.Counts {
			c := s.Config
			c.Subscribers, c.Size = n, size
			p, err := flatOut(ctx, r, c)
			if err != nil {
				return nil, err
			}
			r.Parts = append(r.Parts, p)
		}
	}
	if s.Shares[0] < 0 {
		return r, nil
	}
	return r, s.curve(ctx, r)
}

// flatOut measures one cell.
func flatOut(ctx context.Context, r *report.Report, c Config) (report.Result, error) {
	c.Processes = min(max(1, c.Processes), c.Subscribers)
	c, err := c.withDefaults()
	if err != nil {
		return report.Result{}, err
	}
	progress := c.Progress
	c.Progress = func(s Status) {
		s.Step = fmt.Sprintf("%d B × %d, %s", c.Size, c.Subscribers, s.Step)
		progress(s)
	}
	m := &measured{spec: spec{Config: &c, workload: "sweep", topic: topicName, form: numbered,
		publisher: c.Publisher}}
	if err := alternate(ctx, &c, r, []*measured{m}); err != nil {
		return report.Result{}, err
	}
	return m.result(), nil
}

// curve adds the latencies at rising loads.
func (s *SweepConfig) curve(ctx context.Context, r *report.Report) error {
	top, err := flatOut(ctx, r, s.Config)
	if err != nil {
		return err
	}
	for _, share := range s.Shares {
		c := s.Config
		c.Rate = top.PublishedPerS * share
		c.Rounds, c.Ceiling = 1, -1
		m, err := openLoop("saturation", c)
		if err != nil {
			return err
		}
		m.spec.step = fmt.Sprintf("%.0f %% of the load", 100*share)
		if err := m.measure(ctx); err != nil {
			return err
		}
		r.Parts = append(r.Parts, m.result())
	}
	return nil
}
