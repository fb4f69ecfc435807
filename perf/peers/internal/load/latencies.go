package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxLatency bounds a recorded latency: longer ones count as this.
const maxLatency = int64(100 * time.Second)

// Latencies are a histogram of latencies, to three significant digits. One goroutine uses
// them.
type Latencies struct{ h *hdrhistogram.Histogram }

// Bars are the histogram as it travels: pairs of a latency in nanoseconds and how often it
// was seen.
type Bars [][2]int64

// Quantiles are what is said about latencies, in nanoseconds.
type Quantiles struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P50   int64   `json:"p50"`
	P90   int64   `json:"p90"`
	P99   int64   `json:"p99"`
	P999  int64   `json:"p999"`
	P9999 int64   `json:"p9999"`
	Max   int64   `json:"max"`
}

// NewLatencies makes an empty histogram of about 230 kB.
func NewLatencies() *Latencies {
	return &Latencies{h: hdrhistogram.New(1, maxLatency, 3)}
}

// Record adds a latency in nanoseconds.
func (l *Latencies) Record(ns int64) { _ = l.h.RecordValue(min(max(ns, 1), maxLatency)) }

// Merge adds o, which may be nil.
func (l *Latencies) Merge(o *Latencies) {
	if o != nil {
		l.h.Merge(o.h)
	}
}

// Bars is the histogram without its empty parts.
func (l *Latencies) Bars() Bars {
	var bars Bars
	for _, bar := range l.h.Distribution() {
		if bar.Count > 0 {
			bars = append(bars, [2]int64{bar.To, bar.Count})
		}
	}
	return bars
}

// Add records bars.
func (l *Latencies) Add(bars Bars) {
	for _, bar := range bars {
		_ = l.h.RecordValues(min(max(bar[0], 1), maxLatency), max(bar[1], 0))
	}
}

// Quantiles sums the histogram up.
func (l *Latencies) Quantiles() Quantiles {
	if l.h.TotalCount() == 0 {
		return Quantiles{}
	}
	q := func(percent float64) int64 { return l.h.ValueAtQuantile(percent) }
	return Quantiles{Count: l.h.TotalCount(), Mean: l.h.Mean(), P50: q(50), P90: q(90), P99: q(99),
		P999: q(99.9), P9999: q(99.99), Max: l.h.Max()}
}
