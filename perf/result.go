package perf

import (
	"slices"
	"time"

	"github.com/fantail-io/fantail/perf/ceiling"
	"github.com/fantail-io/fantail/perf/hist"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/perf/usage"
)

// measured is a workload's rounds.
type measured struct {
	spec     spec
	rounds   []*outcome
	ceilings []ceiling.Result // one a round; nil where there is none
}

// totals are what the rounds sum up to.
type totals struct {
	wall                           float64
	server, subscribers, publisher usage.Delta
	door                           doorCounts
	latency                        *hist.Histogram
}

// result is what the rounds came to together.
func (m *measured) result() report.Result {
	s := &m.spec
	r := report.Result{Workload: s.workload, Variant: s.publisher, Subscribers: s.Subscribers,
		Processes: s.Processes, Size: s.Size, OfferedPerS: s.Rate, RSS: &report.RSS{}}
	t := totals{latency: hist.New()}
	foreign := 0.0
	for i, o := range m.rounds {
		r.Messages += o.published
		r.Deliveries += o.counts.Received
		r.Seconds += o.seconds
		r.Lost += o.lost(s.Subscribers)
		r.Gaps += o.counts.Gaps
		r.Corrupt += o.counts.Corrupt
		r.Repeated += o.counts.Repeated + o.counts.Sequences
		r.SendLateNS = max(r.SendLateNS, int64(o.late))
		r.RSS.Server = max(r.RSS.Server, o.rss.Server)
		r.RSS.Subscriber = max(r.RSS.Subscriber, o.rss.Subscriber)
		foreign = max(foreign, o.foreign)
		r.Rounds = append(r.Rounds, m.round(i))
		r.Timeline = append(r.Timeline, o.timeline...)
		t.add(o)
	}
	r.ForeignCPU = &foreign
	m.rates(&r)
	t.costs(&r)
	r.CeilingCPU = m.ceilingCPU()
	m.each(&r)
	m.slow(&r)
	return r
}

// round is the rates of round i.
func (m *measured) round(i int) report.Round {
	o := m.rounds[i]
	x := report.Round{PublishedPerS: per(float64(o.published), o.seconds),
		DeliveredPerS: per(float64(o.counts.Received), o.seconds), ForeignCPU: o.foreign}
	if i < len(m.ceilings) {
		x.CeilingPerS = m.ceilings[i].PerSecond
		x.CeilingShare = per(x.DeliveredPerS, x.CeilingPerS)
	}
	return x
}

// rates sets the medians of the rounds' rates.
func (m *measured) rates(r *report.Result) {
	of := func(pick func(report.Round) float64) float64 {
		var list []float64
		for _, x := range r.Rounds {
			list = append(list, pick(x))
		}
		return median(list)
	}
	r.PublishedPerS = of(func(x report.Round) float64 { return x.PublishedPerS })
	r.DeliveredPerS = of(func(x report.Round) float64 { return x.DeliveredPerS })
	r.CeilingPerS = of(func(x report.Round) float64 { return x.CeilingPerS })
	r.CeilingShare = of(func(x report.Round) float64 { return x.CeilingShare })
	r.InOutPerS = r.PublishedPerS + r.DeliveredPerS
}

func (t *totals) add(o *outcome) {
	t.wall += o.server.WallSeconds
	t.server = t.server.Add(o.server)
	t.subscribers = t.subscribers.Add(o.subscribers)
	t.publisher = t.publisher.Add(o.publisher)
	t.door.add(o.door)
	t.latency.Merge(o.latency)
}

// costs sets what the messages and deliveries of r cost, as far as there were any.
func (t *totals) costs(r *report.Result) {
	share := func(by float64) *report.CPU {
		return &report.CPU{Server: per(t.server.CPUSeconds(), by),
			Subscribers: per(t.subscribers.CPUSeconds(), by),
			Publisher:   per(t.publisher.CPUSeconds(), by)}
	}
	r.Cores = share(t.wall)
	r.GC = &report.GC{Server: t.server.GC, Subscribers: t.subscribers.GC}
	r.Sender, r.Batches = t.door.sender, t.door.batches()
	r.BatchMean = per(float64(t.door.sent), float64(t.door.submissions))
	if t.latency.Count() > 0 {
		r.Latency, r.LatencyCurve = ptr(t.latency.Summary()), t.latency.Curve()
	}
	if r.Messages > 0 {
		r.AllocsPerPublish = ptr(float64(t.server.Mallocs) / float64(r.Messages))
		r.BackPressure = ptr(t.door.waits)
	}
	if r.Deliveries > 0 {
		n := float64(r.Deliveries)
		r.CPU = share(n / 1e6)
		r.SyscallsPerDelivery = ptr(float64(t.door.syscalls) / n)
		r.AllocsPerDelivery = ptr(float64(t.subscribers.Mallocs) / n)
	}
}

// ceilingCPU is what the ceiling's deliveries cost; nil where it was not measured.
func (m *measured) ceilingCPU() *report.CPU {
	var server, readers, deliveries float64
	for _, top := range m.ceilings {
		server += top.Server.CPUSeconds()
		readers += top.Readers.CPUSeconds()
		deliveries += top.Deliveries
	}
	if deliveries == 0 {
		return nil
	}
	return &report.CPU{Server: server / deliveries * 1e6, Subscribers: readers / deliveries * 1e6}
}

// each adds the single subscribers: their rates, and their latencies in the last round.
func (m *measured) each(r *report.Result) {
	var rates []float64
	for _, o := range m.rounds {
		for _, one := range o.each {
			if took := time.Duration(one.Last - one.First).Seconds(); took > 0 {
				rates = append(rates, float64(one.Counts.Received)/took)
			}
		}
	}
	if len(rates) > 0 {
		r.SubscriberRate = &report.Spread{Min: slices.Min(rates), Median: median(rates),
			Max: slices.Max(rates)}
	}
	if m.spec.form != stamped || len(m.rounds) == 0 {
		return
	}
	o := m.rounds[len(m.rounds)-1]
	for _, one := range o.each {
		r.PerSubscriber = append(r.PerSubscriber, report.Subscriber{
			Received: one.Counts.Received, Lost: o.published - min(o.published, one.Counts.Received),
			P50: one.P50, P99: one.P99, Max: one.Max})
	}
}

// slow adds the subscriber that was stopped, where there was one.
func (m *measured) slow(r *report.Result) {
	for _, o := range m.rounds {
		if o.slow == nil {
			continue
		}
		if r.Slow == nil {
			r.Slow = &report.Slow{}
		}
		c := o.slow.Counts
		r.Slow.Received += c.Received
		r.Slow.Lost += o.published - min(o.published, c.Received)
		r.Slow.Gaps += c.Gaps
		r.Slow.GapMessages += c.GapCount
		r.Corrupt += c.Corrupt
		r.Repeated += c.Repeated + c.Sequences
	}
}

func ptr[T any](v T) *T { return &v }
