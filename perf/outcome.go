package perf

import (
	"runtime"
	"slices"
	"time"

	"github.com/fantail-io/fantail/perf/ceiling"
	"github.com/fantail-io/fantail/perf/hist"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/perf/usage"
)

// collect takes what the subscribers' processes got.
func (o *outcome) collect(results []subscribeResult, started int64) {
	o.latency = hist.New()
	last := started
	for _, r := range results {
		if r.Latency != nil {
			o.latency.Merge(r.Latency)
		}
		o.subscribers = o.subscribers.Add(r.Usage)
		o.rss.Subscriber = max(o.rss.Subscriber, r.RSS)
		for _, one := range r.Each {
			o.counts.Add(one.Counts)
			o.each = append(o.each, one)
			last = max(last, one.Last)
		}
	}
	o.seconds = time.Duration(last - started).Seconds()
}

// lost is how many deliveries are missing of those that there should have been.
func (o *outcome) lost(subscribers int) uint64 {
	due := o.published * uint64(subscribers)
	return due - min(due, o.counts.Received)
}

// per divides, and answers 0 where there is nothing to divide by.
func per(v, by float64) float64 {
	if by == 0 {
		return 0
	}
	return v / by
}

// measured is a workload's rounds.
type measured struct {
	spec     spec
	rounds   []*outcome
	ceilings []ceiling.Result // one a round; nil where there is none
}

// result is what the rounds came to together.
func (m *measured) result() report.Result {
	s := &m.spec
	r := report.Result{Workload: s.workload, Variant: s.publisher, Subscribers: s.Subscribers,
		Processes: s.Processes, Size: s.Size, OfferedPerS: s.Rate}
	latency := hist.New()
	var server, subscribers, publisher usage.Delta
	var door doorCounts
	var rss report.RSS
	var foreign float64
	for i, o := range m.rounds {
		r.Messages += o.published
		r.Deliveries += o.counts.Received
		r.Seconds += o.seconds
		r.Lost += o.lost(s.Subscribers)
		r.Gaps += o.counts.Gaps
		r.Corrupt += o.counts.Corrupt
		r.Repeated += o.counts.Repeated + o.counts.Sequences
		r.SendLateNS = max(r.SendLateNS, int64(o.late))
		latency.Merge(o.latency)
		server, subscribers = server.Add(o.server), subscribers.Add(o.subscribers)
		publisher = publisher.Add(o.publisher)
		door.add(o.door)
		rss.Server = max(rss.Server, o.rss.Server)
		rss.Subscriber = max(rss.Subscriber, o.rss.Subscriber)
		foreign = max(foreign, o.foreign)
		r.Rounds = append(r.Rounds, m.round(i))
		r.Timeline = append(r.Timeline, o.timeline...)
	}
	rate := func(pick func(report.Round) float64) float64 {
		var list []float64
		for _, x := range r.Rounds {
			list = append(list, pick(x))
		}
		return median(list)
	}
	r.PublishedPerS = rate(func(x report.Round) float64 { return x.PublishedPerS })
	r.DeliveredPerS = rate(func(x report.Round) float64 { return x.DeliveredPerS })
	r.CeilingPerS = rate(func(x report.Round) float64 { return x.CeilingPerS })
	r.CeilingShare = rate(func(x report.Round) float64 { return x.CeilingShare })
	r.InOutPerS = r.PublishedPerS + r.DeliveredPerS
	millions := float64(r.Deliveries) / 1e6
	r.CPU = &report.CPU{Server: per(server.CPUSeconds(), millions),
		Subscribers: per(subscribers.CPUSeconds(), millions),
		Publisher:   per(publisher.CPUSeconds(), millions)}
	r.CeilingCPU = m.ceilingCPU()
	r.SyscallsPerDelivery = ptr(per(float64(door.syscalls), float64(r.Deliveries)))
	r.AllocsPerPublish = ptr(per(float64(server.Mallocs), float64(r.Messages)))
	r.AllocsPerDelivery = ptr(per(float64(subscribers.Mallocs), float64(r.Deliveries)))
	if latency.Count() > 0 {
		r.Latency, r.LatencyCurve = ptr(latency.Summary()), latency.Curve()
	}
	r.RSS, r.ForeignCPU = &rss, &foreign
	r.GC = &report.GC{Server: server.GC, Subscribers: subscribers.GC}
	r.Sender, r.Batches, r.BackPressure = door.sender, door.batches(), ptr(door.waits)
	r.BatchMean = per(float64(door.sent), float64(door.submissions))
	m.each(&r)
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

// each adds the single subscribers, of the last round where it is their latency.
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

func ptr[T any](v T) *T { return &v }

// median of figures; 0 where there are none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	if n := len(list); n%2 == 0 {
		return (list[n/2-1] + list[n/2]) / 2
	}
	return list[len(list)/2]
}

// cores is how many of them the program may use.
func cores() float64 { return float64(runtime.NumCPU()) }
