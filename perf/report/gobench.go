package report

import (
	"fmt"
	"io"
	"strings"
)

// WriteGoBench writes the report in the format of Go's benchmarks, a line for each round, so
// that benchstat compares runs.
func WriteGoBench(w io.Writer, r *Report) {
	fmt.Fprintf(w, "goos: %s\ngoarch: %s\npkg: github.com/fantail-io/fantail/perf\ncpu: %s\n",
		r.Host.OS, r.Host.Arch, r.Host.CPU)
	for _, p := range r.All() {
		name := strings.ToUpper(p.Workload[:min(1, len(p.Workload))]) +
			p.Workload[min(1, len(p.Workload)):]
		name = fmt.Sprintf("Benchmark%s/subs=%d/size=%d", name, p.Subscribers, p.Size)
		if p.Variant != "" {
			name += "/" + strings.ReplaceAll(p.Variant, " ", "_")
		}
		rounds := p.Rounds
		if len(rounds) == 0 {
			rounds = []Round{{DeliveredPerS: p.DeliveredPerS, CeilingShare: p.CeilingShare}}
		}
		for _, x := range rounds {
			if x.DeliveredPerS == 0 {
				continue
			}
			fmt.Fprintf(w, "%s-%d 1 %.4g ns/delivery %.0f deliveries/s", name,
				r.Host.GOMAXPROCS, 1e9/x.DeliveredPerS, x.DeliveredPerS)
			if x.CeilingShare > 0 {
				fmt.Fprintf(w, " %.4g ceiling-share", x.CeilingShare)
			}
			if p.Latency != nil {
				fmt.Fprintf(w, " %d p50-ns %d p99-ns", p.Latency.P50, p.Latency.P99)
			}
			fmt.Fprintln(w)
		}
	}
}
