package perf

import (
	"context"
	"fmt"
	"math"

	"github.com/fantail-io/fantail/perf/load"
	"github.com/fantail-io/fantail/perf/report"
)

// amsBytes is the payload that a run of the AMS benchmark carries.
const amsBytes = 200_000_000

// amsSeed is the historical table: figures for one subscriber.
var amsSeed = []struct {
	size       int
	perS, mbps [2]float64 // with 1 and 2 subscribers
}{
	{20, [2]float64{11_560, 8_581}, [2]float64{1.7, 1.3}},
	{200, [2]float64{10_124, 6_642}, [2]float64{15.4, 10.1}},
	{2_000, [2]float64{4_800, 2_529}, [2]float64{73.2, 38.6}},
	{20_000, [2]float64{587, 293}, [2]float64{89.6, 44.8}},
}

// AMSConfig chooses cells of the matrix.
type AMSConfig struct {
	Config
	// Scale shortens the runs: 1 is 200 MB each, 0.1 a tenth. Zero: 1. At most 100.
	Scale float64
	// Sizes and Counts are the payloads' bytes and the numbers of subscribers. Empty: the
	// original's: 20, 200, 2,000, 20,000, and 1 and 2.
	Sizes, Counts []int
}

// AMS runs the AMS benchmark's matrix. Payloads count down to 1; a subscriber's clock runs
// from its first message to that one.
func AMS(ctx context.Context, a AMSConfig) (*report.Report, error) {
	if len(a.Sizes) == 0 {
		for _, s := range amsSeed {
			a.Sizes = append(a.Sizes, s.size)
		}
	}
	if len(a.Counts) == 0 {
		a.Counts = []int{1, 2}
	}
	if a.Scale == 0 {
		a.Scale = 1
	}
	if a.Scale < 0 || a.Scale > 100 {
		return nil, fmt.Errorf("%w: scale %v is outside 0 to 100", errConfig, a.Scale)
	}
	r := newReport("ams")
	for _, size := range a.Sizes {
		if size < load.CountdownBytes || size > 65_000 {
			return nil, fmt.Errorf("%w: AMS messages have %d to 65000 bytes, not %d", errConfig,
				load.CountdownBytes, size)
		}
		for _, n := range a.Counts {
			p, err := a.cell(ctx, r, size, n)
			if err != nil {
				return nil, err
			}
			r.Parts = append(r.Parts, p)
		}
	}
	return r, nil
}

func (a *AMSConfig) cell(ctx context.Context, r *report.Report, size, n int) (report.Result,
	error) {
	c := a.Config
	c.Size, c.Subscribers = size, n
	c.Messages = min(max(1, uint64(amsBytes*a.Scale)/uint64(size)), math.MaxUint32)
	c, err := c.withDefaults()
	if err != nil {
		return report.Result{}, err
	}
	m := &measured{spec: spec{Config: &c, workload: "ams", topic: topicName, form: countdown,
		publisher: c.Publisher}}
	progress := c.Progress
	c.Progress = func(s Status) {
		s.Step = fmt.Sprintf("%d B → %d, %s", size, n, s.Step)
		progress(s)
	}
	if err := alternate(ctx, &c, r, []*measured{m}); err != nil {
		return report.Result{}, err
	}
	p := m.result()
	if p.SubscriberRate != nil { // by the subscribers' own clocks, as the original metered
		p.DeliveredPerS = p.SubscriberRate.Median * float64(n)
		p.InOutPerS = p.PublishedPerS + p.DeliveredPerS
	}
	for _, s := range amsSeed {
		if s.size == size && (n == 1 || n == 2) {
			p.SeedPerS, p.SeedMbps = s.perS[n-1], s.mbps[n-1]
		}
	}
	return p, nil
}
