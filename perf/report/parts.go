package report

import (
	"fmt"
	"io"
)

// writeParts writes a line for each part: first those that ran flat out, then those at a
// rate.
func writeParts(w io.Writer, r *Report) {
	fmt.Fprintf(w, "%s\n", r.Workload)
	var flat, paced []Result
	for _, p := range r.Parts {
		if p.OfferedPerS > 0 {
			paced = append(paced, p)
			continue
		}
		p.Latency = nil // how long the queues are is no latency
		flat = append(flat, p)
	}
	for _, list := range [][]Result{flat, paced} {
		if len(list) > 0 {
			fmt.Fprintln(w)
			writeLines(w, list)
		}
	}
}

// writeLines writes a line for each part, with the columns that any of them has.
func writeLines(w io.Writer, parts []Result) {
	var has struct{ offered, latency, ceiling, cpu bool }
	variants := false
	for _, p := range parts {
		has.offered = has.offered || p.OfferedPerS > 0
		has.latency = has.latency || p.Latency != nil
		has.ceiling = has.ceiling || p.CeilingShare > 0
		has.cpu = has.cpu || p.CPU != nil
		variants = variants || p.Variant != parts[0].Variant
	}
	t := table{head: []string{"subscribers", "bytes"}}
	column := func(shown bool, name string) {
		if shown {
			t.head = append(t.head, name)
		}
	}
	column(has.offered, "offered/s")
	column(true, "published/s")
	column(true, "delivered/s")
	column(true, "payload/s")
	column(has.ceiling, "of ceiling")
	for _, name := range []string{"p50", "p90", "p99", "p99.9", "p99.99", "max"} {
		column(has.latency, name)
	}
	column(has.cpu, "CPU s/M server")
	column(has.cpu, "subscribers")
	column(true, "lost")
	column(variants, "variant")
	for _, p := range parts {
		row := []string{Count(uint64(p.Subscribers)), Count(uint64(p.Size))}
		cell := func(shown, known bool, figure string) {
			switch {
			case shown && known:
				row = append(row, figure)
			case shown:
				row = append(row, dash)
			}
		}
		cell(has.offered, p.OfferedPerS > 0, whole(p.OfferedPerS))
		cell(true, true, whole(p.PublishedPerS))
		cell(true, true, whole(p.DeliveredPerS))
		cell(true, true, Bytes(p.DeliveredPerS*float64(p.Size)))
		cell(has.ceiling, p.CeilingShare > 0, Percent(p.CeilingShare))
		for _, ns := range percentiles(&p) {
			cell(has.latency, p.Latency != nil, Span(ns))
		}
		if has.cpu {
			cpu := p.CPU
			if cpu == nil {
				cpu = &CPU{}
			}
			cell(true, p.CPU != nil, digits(cpu.Server))
			cell(true, p.CPU != nil, digits(cpu.Subscribers))
		}
		cell(true, true, Count(p.Lost))
		cell(variants, p.Variant != "", p.Variant)
		t.rows = append(t.rows, row)
	}
	t.write(w, "  ")
}

func percentiles(p *Result) []int64 {
	if p.Latency == nil {
		return make([]int64, 6)
	}
	l := p.Latency
	return []int64{l.P50, l.P90, l.P99, l.P999, l.P9999, l.Max}
}

// writeAMS writes the historical table beside ours, per subscriber.
func writeAMS(w io.Writer, r *Report) {
	fmt.Fprintf(w, "ams · figures are per subscriber; Mbps counts in 1024² bits, as the "+
		"original did; Mbit/s in 10⁶\n\n")
	t := table{head: []string{"bytes", "subscribers", "messages", "AMS msg/s", "ours msg/s",
		"ratio", "AMS Mbps", "ours Mbps", "Mbit/s", "of ceiling", "lost"}}
	for _, p := range r.Parts {
		each := p.DeliveredPerS / float64(max(1, p.Subscribers))
		ratio, seed, mbps, share := dash, dash, dash, dash
		if p.SeedPerS > 0 {
			ratio = digits(each/p.SeedPerS) + " ×"
			seed, mbps = whole(p.SeedPerS), digits(p.SeedMbps)
		}
		if p.CeilingShare > 0 {
			share = Percent(p.CeilingShare)
		}
		t.add(Count(uint64(p.Size)), fmt.Sprint(p.Subscribers), Count(p.Messages), seed,
			whole(each), ratio, mbps, whole(MbpsSeed(each, p.Size)), whole(Mbit(each, p.Size)),
			share, Count(p.Lost))
	}
	t.write(w, "  ")
}
