package compare

import (
	"slices"
	"strings"

	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
)

// Subject is the name of the system that is compared with all others; what begins with it
// and a dash is a variant of it.
const Subject = "fantail"

// Summary is a figure over several rounds.
type Summary struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"` // how many rounds gave it
}

// Summarize takes the median, least and most of values; none give the zero Summary.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return Summary{Median: (v[(n-1)/2] + v[n/2]) / 2, Min: v[0], Max: v[n-1], N: n}
}

// IsSubject says whether the peer so named is Fantail, in one of its variants.
func IsSubject(name string) bool {
	return name == Subject || strings.HasPrefix(name, Subject+"-")
}

func (c *Case) summarize() {
	for i := range c.Results {
		c.Results[i].summarize(c.Latencies())
	}
	for _, subject := range c.Results {
		if !IsSubject(subject.Peer) {
			continue
		}
		for i := range c.Results {
			other := &c.Results[i]
			if IsSubject(other.Peer) {
				continue
			}
			if other.Ratios == nil {
				other.Ratios = make(map[string]Ratio)
			}
			other.Ratios[subject.Peer] = ratio(subject.byRound, other.byRound, c.Latencies())
		}
	}
}

func (r *Result) summarize(latencies bool) {
	r.Runs = []peer.Measurement{}
	for _, m := range r.byRound {
		if m != nil {
			r.Runs = append(r.Runs, *m)
			r.Lost += m.Lost
			r.Disorder += m.Disorder
			r.Torn += m.Torn
		}
	}
	over := func(f func(m *peer.Measurement) float64) Summary {
		values := make([]float64, len(r.Runs))
		for i := range r.Runs {
			values[i] = f(&r.Runs[i])
		}
		return Summarize(values)
	}
	r.PublishedPerS = over(func(m *peer.Measurement) float64 { return m.PublishedPerS })
	r.DeliveredPerS = over(delivered)
	r.InOutPerS = over(func(m *peer.Measurement) float64 { return m.InOutPerS })
	r.SubscriberPerS = over(perSubscriber)
	r.CPU.Server = over(func(m *peer.Measurement) float64 { return m.CPU.Server })
	r.CPU.Publisher = over(func(m *peer.Measurement) float64 { return m.CPU.Publisher })
	r.CPU.Subscribers = over(func(m *peer.Measurement) float64 { return m.CPU.Subscribers })
	r.RSS.Server = over(func(m *peer.Measurement) float64 { return float64(m.RSS.Server) })
	r.RSS.Subscriber = over(func(m *peer.Measurement) float64 { return float64(m.RSS.Subscriber) })
	if latencies {
		of := func(which func(m *peer.Measurement) *load.Quantiles) *Latency {
			q := func(f func(q *load.Quantiles) int64) Summary {
				return over(func(m *peer.Measurement) float64 { return float64(f(which(m))) })
			}
			return &Latency{
				P50:  q(func(q *load.Quantiles) int64 { return q.P50 }),
				P90:  q(func(q *load.Quantiles) int64 { return q.P90 }),
				P99:  q(func(q *load.Quantiles) int64 { return q.P99 }),
				P999: q(func(q *load.Quantiles) int64 { return q.P999 }),
				Max:  q(func(q *load.Quantiles) int64 { return q.Max })}
		}
		r.Latency = of(func(m *peer.Measurement) *load.Quantiles { return m.Latency })
		r.Late = of(func(m *peer.Measurement) *load.Quantiles { return m.Late })
	}
}

func delivered(m *peer.Measurement) float64     { return m.DeliveredPerS }
func perSubscriber(m *peer.Measurement) float64 { return m.SubscriberPerS }
func cpu(m *peer.Measurement) float64 {
	return m.CPU.Server + m.CPU.Publisher + m.CPU.Subscribers
}
func latencyP50(m *peer.Measurement) float64 { return float64(m.Latency.P50) }
func latencyP99(m *peer.Measurement) float64 { return float64(m.Latency.P99) }

// ratio relates the rounds that both finished.
func ratio(subject, other []*peer.Measurement, latencies bool) Ratio {
	over := func(f func(m *peer.Measurement) float64) Summary {
		var values []float64
		for i := range subject {
			if subject[i] == nil || other[i] == nil || f(other[i]) == 0 {
				continue
			}
			values = append(values, f(subject[i])/f(other[i]))
		}
		return Summarize(values)
	}
	r := Ratio{DeliveredPerS: over(delivered), SubscriberPerS: over(perSubscriber), CPU: over(cpu)}
	if latencies {
		p50, p99 := over(latencyP50), over(latencyP99)
		r.LatencyP50, r.LatencyP99 = &p50, &p99
	}
	return r
}
