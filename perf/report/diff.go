package report

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// metric is a figure that two reports can be compared by.
type metric struct {
	name string
	// better is 1 where more is better, -1 where less is.
	better float64
	value  func(*Result) (float64, bool)
	show   func(float64) string
}

func optional(p *float64) (float64, bool) {
	if p == nil {
		return 0, false
	}
	return *p, true
}

func latency(pick func(*Result) int64) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		if r.Latency == nil {
			return 0, false
		}
		return float64(pick(r)), true
	}
}

func span(v float64) string { return Span(int64(v)) }

// metrics are in the order in which they are shown.
var metrics = []metric{
	{"published/s", 1, func(r *Result) (float64, bool) {
		return r.PublishedPerS, r.PublishedPerS > 0
	}, whole},
	{"delivered/s", 1, func(r *Result) (float64, bool) {
		return r.DeliveredPerS, r.DeliveredPerS > 0
	}, whole},
	{"share of the ceiling", 1, func(r *Result) (float64, bool) {
		return r.CeilingShare, r.CeilingShare > 0
	}, Percent},
	{"lost", -1, func(r *Result) (float64, bool) { return float64(r.Lost), true }, whole},
	{"CPU s/M, server", -1, func(r *Result) (float64, bool) {
		if r.CPU == nil {
			return 0, false
		}
		return r.CPU.Server, true
	}, digits},
	{"CPU s/M, subscribers", -1, func(r *Result) (float64, bool) {
		if r.CPU == nil {
			return 0, false
		}
		return r.CPU.Subscribers, true
	}, digits},
	{"system calls per delivery", -1, func(r *Result) (float64, bool) {
		return optional(r.SyscallsPerDelivery)
	}, digits},
	{"allocations per publish", -1, func(r *Result) (float64, bool) {
		return optional(r.AllocsPerPublish)
	}, digits},
	{"latency p50", -1, latency(func(r *Result) int64 { return r.Latency.P50 }), span},
	{"latency p99", -1, latency(func(r *Result) int64 { return r.Latency.P99 }), span},
	{"latency p99.9", -1, latency(func(r *Result) int64 { return r.Latency.P999 }), span},
	{"latency max", -1, latency(func(r *Result) int64 { return r.Latency.Max }), span},
	{"RSS of the server", -1, func(r *Result) (float64, bool) {
		if r.RSS == nil {
			return 0, false
		}
		return float64(r.RSS.Server), true
	}, Bytes},
}

// key says which results of two reports are of the same thing.
type key struct {
	workload, variant string
	subscribers, size int
	offered           float64
}

func keyOf(r *Result) key {
	return key{r.Workload, r.Variant, r.Subscribers, r.Size, r.OfferedPerS}
}

// WriteDiff writes how after differs from before, result by result. Differences of less than
// threshold (0.05 is 5 %) are not called better or worse. It answers how many figures got
// worse.
func WriteDiff(w io.Writer, before, after *Report, threshold float64) (worse int) {
	if a, b := HostLine(&before.Host), HostLine(&after.Host); before.Host.CPU != after.Host.CPU ||
		before.Host.Kernel != after.Host.Kernel || before.Host.Cores != after.Host.Cores {
		fmt.Fprintf(w, "! different machines:\n    %s\n    %s\n", a, b)
	}
	old := before.All()
	matched := make([]bool, len(old))
	for _, now := range after.All() {
		i := slices.IndexFunc(old, func(r Result) bool { return keyOf(&r) == keyOf(&now) })
		if i < 0 {
			fmt.Fprintf(w, "\n%s\n  only in the second report\n", title(&now))
			continue
		}
		matched[i] = true
		fmt.Fprintf(w, "\n%s\n", title(&now))
		worse += diffResult(w, &old[i], &now, threshold)
	}
	for i, seen := range matched {
		if !seen {
			fmt.Fprintf(w, "\n%s\n  only in the first report\n", title(&old[i]))
		}
	}
	return worse
}

func diffResult(w io.Writer, before, after *Result, threshold float64) (worse int) {
	t := table{head: []string{"", "before", "after", "change", ""}}
	for _, m := range metrics {
		a, okA := m.value(before)
		b, okB := m.value(after)
		if !okA && !okB {
			continue
		}
		row := []string{m.name, dash, dash, dash, ""}
		if okA {
			row[1] = m.show(a)
		}
		if okB {
			row[2] = m.show(b)
		}
		if okA && okB {
			row[3], row[4] = change(a, b, m.better, threshold)
			if row[4] == "worse" {
				worse++
			}
		}
		t.rows = append(t.rows, row)
	}
	t.write(w, "  ")
	return worse
}

// change says by how much b differs from a, and what that means.
func change(a, b, better, threshold float64) (difference, verdict string) {
	switch {
	case a == b:
		return "=", ""
	case a == 0:
		difference = "from 0"
	default:
		difference = fmt.Sprintf("%+.1f %%", 100*(b-a)/a)
	}
	switch {
	case a != 0 && math.Abs(b-a) < threshold*a:
		return difference, ""
	case (b-a)*better > 0:
		return difference, "better"
	default:
		return difference, "worse"
	}
}
