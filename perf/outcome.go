package perf

import (
	"runtime"
	"slices"
	"time"

	"github.com/fantail-io/fantail/perf/hist"
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
