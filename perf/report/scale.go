package report

import "math"

// scale maps figures to places on an axis.
type scale struct {
	low, high float64 // figures at the ends
	from, to  float64 // places of the ends
	log       bool
}

// newScale answers an axis that has room for all figures: from 0 where it is linear, from a
// power of ten where it is logarithmic.
func newScale(values []float64, from, to float64, log bool) scale {
	s := scale{low: math.Inf(1), high: math.Inf(-1), from: from, to: to, log: log}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || log && v <= 0 {
			continue
		}
		s.low, s.high = min(s.low, v), max(s.high, v)
	}
	if s.low > s.high {
		s.low, s.high = 1, 10 // nothing to show
	}
	if log {
		s.low = math.Pow(10, math.Floor(math.Log10(s.low)+1e-9))
		s.high = math.Pow(10, math.Ceil(math.Log10(s.high)-1e-9))
		if s.low == s.high {
			s.high *= 10
		}
		return s
	}
	s.low = min(0, s.low)
	step := niceStep(s.high-s.low, 5)
	s.high = s.low + step*math.Ceil((s.high-s.low)/step-1e-9)
	return s
}

// at is where a figure is; one that is off the axis is at its end.
func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		low, high, v = math.Log(low), math.Log(high), math.Log(max(v, s.low))
	}
	part := (v - low) / (high - low)
	return s.from + min(max(part, 0), 1)*(s.to-s.from)
}

// ticks are the figures to mark.
func (s scale) ticks() []float64 {
	var list []float64
	if s.log {
		decades := math.Log10(s.high / s.low)
		for v := s.low; v <= s.high*1.001; v *= 10 {
			list = append(list, v)
			if decades < 2.5 && v*2 < s.high {
				list = append(list, 2*v, 5*v)
			}
		}
		return list
	}
	step := niceStep(s.high-s.low, 5)
	for i := 0; s.low+float64(i)*step <= s.high+step/1e6; i++ {
		list = append(list, s.low+float64(i)*step)
	}
	return list
}

// niceStep is 1, 2 or 5 times a power of ten, about count of which make span.
func niceStep(span float64, count int) float64 {
	if span <= 0 {
		return 1
	}
	rough := span / float64(count)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough*0.999 {
			return m * power
		}
	}
	return 10 * power
}
