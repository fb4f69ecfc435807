package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/fantail-io/fantail/perf/hist"
)

// plot is a chart with its heading.
type plot struct {
	Title, Lead string
	Chart       template.HTML
}

// plots are the charts that a report has figures for.
func plots(r *Report) []plot {
	var list []plot
	add := func(p plot, ok bool) {
		if ok {
			list = append(list, p)
		}
	}
	if len(r.Parts) > 0 {
		add(amsPlot(r))
		add(gridPlot(r))
		add(saturationPlot(r))
		add(variantsPlot(r))
	} else {
		add(roundsPlot(&r.Result))
		add(timelinePlot(&r.Result))
		add(memoryPlot(&r.Result))
	}
	add(latencyPlot(r.All()))
	if all := r.All(); len(all) <= 2 {
		for _, p := range all {
			add(batchPlot(&p))
		}
	}
	return list
}

func roundsPlot(r *Result) (plot, bool) {
	var list []bar
	for i, x := range r.Rounds {
		name := fmt.Sprintf("round %d", i+1)
		list = append(list, bar{name, "fantail", x.DeliveredPerS, Rate(x.DeliveredPerS) + "/s"})
		if x.CeilingPerS > 0 {
			list = append(list, bar{name, "ceiling", x.CeilingPerS, Rate(x.CeilingPerS) + "/s"})
		}
	}
	return plot{Title: "Deliveries a second, beside the bare kernel", Lead: "Rounds alternate " +
		"with the ceiling: the same bytes from one buffer in plain writes, to readers that " +
		"throw them away.", Chart: bars("deliveries a second by round", list, false)}, len(list) > 0
}

// timelinePlot draws a curve for each round: its clock starts again at zero.
func timelinePlot(r *Result) (plot, bool) {
	c := curves{label: "deliveries a second over time", xName: "seconds", xShow: short,
		yShow: shortRate}
	for i, b := range r.Timeline {
		if i == 0 || b.Seconds < r.Timeline[i-1].Seconds {
			c.series = append(c.series, series{name: fmt.Sprintf("round %d", len(c.series)+1)})
			continue
		}
		a, s := r.Timeline[i-1], &c.series[len(c.series)-1]
		took := b.Seconds - a.Seconds
		if took <= 0 || b.Delivered < a.Delivered {
			continue
		}
		rate := float64(b.Delivered-a.Delivered) / took
		s.points = append(s.points, xy{b.Seconds, rate,
			fmt.Sprintf("%.1f s: %s/s", b.Seconds, Rate(rate))})
	}
	enough := slices.ContainsFunc(c.series, func(s series) bool { return len(s.points) > 2 })
	return plot{Title: "Over time", Lead: "Deliveries a second, of all subscribers together.",
		Chart: c.svg()}, enough
}

// memoryPlot draws the server's memory in a long run.
func memoryPlot(r *Result) (plot, bool) {
	c := curves{label: "memory over time", xName: "seconds", xShow: short,
		yShow: func(v float64) string { return short(v) + " MiB" }}
	for i, t := range r.Timeline {
		if i == 0 || t.Seconds < r.Timeline[i-1].Seconds {
			c.series = append(c.series, series{name: fmt.Sprintf("round %d", len(c.series)+1)})
		}
		if s := &c.series[len(c.series)-1]; t.RSS > 0 {
			s.points = append(s.points, xy{x: t.Seconds, y: float64(t.RSS) / (1 << 20)})
		}
	}
	c.series = slices.DeleteFunc(c.series, func(s series) bool { return len(s.points) < 2 })
	return plot{Title: "Memory", Lead: "Resident memory of the server's process, once the run " +
		"is 10 s old.", Chart: c.svg()}, len(c.series) > 0
}

// latencyPlot draws the distributions with the high percentiles spread out: each step to the
// right leaves a tenth of the deliveries behind.
func latencyPlot(results []Result) (plot, bool) {
	c := curves{label: "latency by percentile", xName: "percentile", yLog: true,
		yShow:  shortSpan,
		xTicks: []float64{0, 1, 2, 3, 4, 5, 6}, xNames: []string{"0", "90", "99", "99.9",
			"99.99", "99.999", "99.9999"}}
	open := slices.ContainsFunc(results, func(r Result) bool { return r.OfferedPerS > 0 })
	for _, r := range results {
		if len(r.LatencyCurve) < 2 || len(c.series) == 6 || open && r.OfferedPerS == 0 {
			continue
		}
		s := series{name: plural(r.Subscribers, "subscriber")}
		if len(results) > 1 && r.OfferedPerS > 0 {
			s.name += fmt.Sprintf(", %s/s", Rate(r.OfferedPerS))
		}
		s.points = curve(r.LatencyCurve)
		c.series = append(c.series, s)
	}
	if len(c.series) == 0 {
		return plot{}, false
	}
	far := 2.0
	for _, s := range c.series {
		far = max(far, math.Ceil(s.points[len(s.points)-1].x))
	}
	n := int(min(far, 6)) + 1
	c.xTicks, c.xNames = c.xTicks[:n], c.xNames[:n]
	lead := "From the time at which a message was due to the time at which it was checked."
	if !open {
		lead = "From publish to check, at full load: what waits in queues counts."
	}
	return plot{Title: "Latency", Lead: lead, Chart: c.svg()}, true
}

func curve(points []hist.Point) []xy {
	var list []xy
	named := []float64{50, 90, 99, 99.9, 99.99}
	for _, p := range points {
		left := 1 - p.Percentile/100
		if left <= 0 {
			break // the last point is at infinity; the one before it has the same value or less
		}
		q := xy{x: -math.Log10(left), y: float64(p.NS)}
		if len(named) > 0 && p.Percentile >= named[0] {
			q.hint = fmt.Sprintf("p%g: %s", named[0], Span(p.NS))
			named = named[1:]
		}
		list = append(list, q)
	}
	return list
}

func batchPlot(r *Result) (plot, bool) {
	var list []bar
	for _, b := range r.Batches {
		if b.Count > 0 {
			list = append(list, bar{"to " + Bytes(float64(b.UpToBytes)), "", float64(b.Count),
				Count(b.Count)})
		}
	}
	return plot{Title: "Batches", Lead: fmt.Sprintf("Submissions to the kernel by size, %s "+
		"× %d B.", plural(r.Subscribers, "subscriber"), r.Size),
		Chart: bars("submissions by size", list, false)}, len(list) > 0
}

func amsPlot(r *Report) (plot, bool) {
	var list []bar
	for _, p := range r.Parts {
		if p.SeedPerS == 0 {
			continue
		}
		name := fmt.Sprintf("%s B → %d", Count(uint64(p.Size)), p.Subscribers)
		each := p.DeliveredPerS / float64(max(1, p.Subscribers))
		list = append(list, bar{name, "fantail", each, Rate(each) + "/s"},
			bar{name, "AMS, 2005", p.SeedPerS, Rate(p.SeedPerS) + "/s"})
	}
	return plot{Title: "Beside the AMS benchmark", Lead: "Messages a second for each " +
		"subscriber; the axis is logarithmic. AMS ran between two machines on 100 Mbit/s " +
		"Ethernet.", Chart: bars("messages a second beside AMS", list, true)}, len(list) > 0
}

// gridPlot draws deliveries by subscribers, a curve for each size.
func gridPlot(r *Report) (plot, bool) {
	if r.Workload != "sweep" {
		return plot{}, false
	}
	c := curves{label: "deliveries a second by subscribers", xName: "subscribers", xLog: true,
		yLog: true, yShow: shortRate}
	for _, p := range r.Parts {
		if p.OfferedPerS > 0 {
			continue
		}
		s := c.named(Count(uint64(p.Size)) + " B")
		hint := fmt.Sprintf("%s × %s: %s/s", plural(p.Subscribers, "subscriber"), s.name,
			Rate(p.DeliveredPerS))
		if p.CeilingShare > 0 {
			hint += ", " + Percent(p.CeilingShare) + " of the ceiling"
		}
		s.points = append(s.points, xy{float64(p.Subscribers), p.DeliveredPerS, hint})
		if x := float64(p.Subscribers); !slices.Contains(c.xTicks, x) {
			c.xTicks = append(c.xTicks, x)
		}
	}
	if len(c.xTicks) < 2 {
		return plot{}, false
	}
	slices.Sort(c.xTicks)
	for _, x := range c.xTicks {
		c.xNames = append(c.xNames, whole(x))
	}
	return plot{Title: "Flat out", Lead: "Deliveries a second to all subscribers together, " +
		"a curve for each size of message.", Chart: c.svg()}, true
}

// saturationPlot draws latency by load.
func saturationPlot(r *Report) (plot, bool) {
	c := curves{label: "latency by load", xName: "messages due each second", yLog: true,
		xShow: shortRate, yShow: shortSpan}
	subscribers, size, points := 0, 0, 0
	for _, p := range r.Parts {
		if p.OfferedPerS == 0 || p.Latency == nil || r.Workload != "sweep" {
			continue
		}
		for _, q := range []struct {
			name string
			ns   int64
		}{{"p50", p.Latency.P50}, {"p99", p.Latency.P99}, {"p99.9", p.Latency.P999}} {
			s := c.named(q.name)
			s.points = append(s.points, xy{p.OfferedPerS, float64(q.ns), fmt.Sprintf(
				"%s/s due: %s %s", Rate(p.OfferedPerS), q.name, Span(q.ns))})
		}
		subscribers, size, points = p.Subscribers, p.Size, points+1
	}
	return plot{Title: "Saturation", Lead: fmt.Sprintf("Latency from when a message was due, as "+
		"the load rises: %s × %d B.", plural(subscribers, "subscriber"), size),
		Chart: c.svg()}, points > 1
}

// variantsPlot compares results that differ by what delivers.
func variantsPlot(r *Report) (plot, bool) {
	var list []bar
	variants := map[string]bool{}
	for _, p := range r.Parts {
		if p.Variant != "" && p.DeliveredPerS > 0 {
			list = append(list, bar{p.Variant, "", p.DeliveredPerS, Rate(p.DeliveredPerS) + "/s"})
			variants[p.Variant] = true
		}
	}
	if len(variants) != len(list) {
		return plot{}, false // they differ by something else
	}
	return plot{Title: "Deliveries a second", Lead: "The same work, alternating.",
		Chart: bars("deliveries a second", list, false)}, len(list) > 1
}
