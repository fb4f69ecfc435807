package hist

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// Highest is the largest latency that is told apart: 100 s.
	Highest = 100 * time.Second
	// digits is how many significant digits a value keeps: 0.1 %.
	digits = 3
)

// Histogram counts latencies.
type Histogram struct{ h *hdrhistogram.Histogram }

// New answers an empty histogram.
func New() *Histogram { return &Histogram{h: hdrhistogram.New(1, int64(Highest), digits)} }

// Record counts one latency in nanoseconds.
func (h *Histogram) Record(ns int64) {
	ns = min(max(ns, 1), int64(Highest))
	if err := h.h.RecordValue(ns); err != nil {
		panic("hist: " + err.Error()) // a bug: the value is in range
	}
}

// Merge adds what other has counted.
func (h *Histogram) Merge(other *Histogram) { h.h.Merge(other.h) }

// Count is how many latencies were recorded.
func (h *Histogram) Count() int64 { return h.h.TotalCount() }

// Summary is a distribution in a few figures, all but Count in nanoseconds.
type Summary struct {
	Count int64   `json:"count"`
	Min   int64   `json:"min"`
	Mean  float64 `json:"mean"`
	P50   int64   `json:"p50"`
	P90   int64   `json:"p90"`
	P99   int64   `json:"p99"`
	P999  int64   `json:"p999"`
	P9999 int64   `json:"p9999"`
	Max   int64   `json:"max"`
}

// Summary answers the usual figures; all zero where nothing was recorded.
func (h *Histogram) Summary() Summary {
	if h.Count() == 0 {
		return Summary{}
	}
	at := h.h.ValueAtQuantile
	return Summary{Count: h.Count(), Min: h.h.Min(), Mean: h.h.Mean(), P50: at(50), P90: at(90),
		P99: at(99), P999: at(99.9), P9999: at(99.99), Max: h.h.Max()}
}

// Point is a place on the curve of a distribution.
type Point struct {
	Percentile float64 `json:"percentile"`
	NS         int64   `json:"ns"`
}

// Curve answers points that get denser towards the high percentiles: 8 for each halving of
// what is left above.
func (h *Histogram) Curve() []Point {
	if h.Count() == 0 {
		return nil
	}
	var points []Point
	for _, b := range h.h.CumulativeDistributionWithTicks(8) {
		points = append(points, Point{Percentile: b.Quantile, NS: b.ValueAt})
	}
	return points
}

// MarshalText is the histogram in HdrHistogram's own portable form.
func (h *Histogram) MarshalText() ([]byte, error) {
	b, err := h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("hist: %w", err)
	}
	return b, nil
}

// UnmarshalText is the inverse of MarshalText.
func (h *Histogram) UnmarshalText(text []byte) error {
	decoded, err := hdrhistogram.Decode(text)
	if err != nil {
		return fmt.Errorf("hist: %w", err)
	}
	h.h = decoded
	return nil
}
