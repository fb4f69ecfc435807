package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fantail-io/fantail/perf/peers/internal/compare"
)

// WriteTable writes r for people.
func (r *Report) WriteTable(w io.Writer) error {
	t := &table{out: tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.line("%s, %d cores, %s %s, %s; medians of %d alternating rounds [least..most]\n", r.Host.CPU,
		r.Host.Cores, r.Host.OS, r.Host.Kernel, r.Host.Go, r.Rounds)
	for i := range r.Cases {
		c := &r.Cases[i]
		t.line("\n%s: %s\n", c.Name, describe(c))
		for _, x := range c.Results {
			t.names = max(t.names, len(x.Peer))
		}
		if c.Latencies() {
			t.latencies(c)
		} else {
			t.rates(c)
		}
		t.flush()
		t.ratios(c)
		t.warnings(c)
	}
	for _, m := range r.Missing {
		t.line("\n%s was not measured: %s", m.Peer, m.Reason)
		if m.Install != "" {
			t.line("; to have it: %s", m.Install)
		}
		t.line("\n")
	}
	if r.Interrupted {
		t.line("\nInterrupted: this is what was measured until then.\n")
	}
	t.flush()
	return t.err
}

func describe(c *compare.Case) string {
	s := fmt.Sprintf("1 publisher, %d subscribers, %d bytes", c.Subscribers, c.Bytes)
	if c.Subscribers == 1 {
		s = fmt.Sprintf("1 publisher, 1 subscriber, %d bytes", c.Bytes)
	}
	if c.Rate > 0 {
		s += fmt.Sprintf(", %d messages/s in an open loop; latency from the due time", c.Rate)
	}
	if n, known := c.Total(); known {
		return s + fmt.Sprintf(", %d messages a run", n)
	}
	return s + fmt.Sprintf(", %g s of publishing a run", c.Seconds)
}

// table remembers the first error, so that the code that lays it out need not.
type table struct {
	out   *tabwriter.Writer
	names int // characters of the longest first cell
	err   error
}

func (t *table) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.out, format, args...)
	}
}

// row writes cells, all but the first to the right.
func (t *table) row(cells ...string) {
	t.line("%-*s\t%s\t\n", t.names, cells[0], strings.Join(cells[1:], "\t"))
}

func (t *table) flush() {
	if t.err == nil {
		t.err = t.out.Flush()
	}
}

func (t *table) rates(c *compare.Case) {
	ams := c.Name == "ams"
	head := []string{"peer", "published/s", "delivered/s", "[least..most]", "in+out/s"}
	if ams {
		head = []string{"peer", "msg/s a subscriber", "[least..most]", "Mbps/1024²", "Mbit/s"}
	}
	t.row(append(head, usageHead...)...)
	for i := range c.Results {
		r := &c.Results[i]
		cells := []string{r.Peer, cell(r.PublishedPerS, Count), cell(r.DeliveredPerS, Count),
			span(r.DeliveredPerS, Count), cell(r.InOutPerS, Count)}
		if ams {
			bits := r.SubscriberPerS.Median * float64(c.Bytes) * 8
			cells = []string{r.Peer, cell(r.SubscriberPerS, Count), span(r.SubscriberPerS, Count),
				fmt.Sprintf("%.0f", bits/(1<<20)), fmt.Sprintf("%.0f", bits/1e6)}
		}
		t.row(append(cells, usage(r)...)...)
	}
}

func (t *table) latencies(c *compare.Case) {
	head := []string{"peer", "p50", "[least..most]", "p90", "p99", "[least..most]", "p99.9", "max",
		"late p50", "delivered/s"}
	t.row(append(head, usageHead...)...)
	for i := range c.Results {
		r := &c.Results[i]
		cells := []string{r.Peer, cell(r.Latency.P50, Nanos), span(r.Latency.P50, Nanos),
			cell(r.Latency.P90, Nanos), cell(r.Latency.P99, Nanos), span(r.Latency.P99, Nanos),
			cell(r.Latency.P999, Nanos), cell(r.Latency.Max, Nanos), cell(r.Late.P50, Nanos),
			cell(r.DeliveredPerS, Count)}
		t.row(append(cells, usage(r)...)...)
	}
}

// usageHead are the columns that every table ends with; CPU is microseconds per delivery.
var usageHead = []string{"lost", "CPU server", "publisher", "subscribers", "RSS server"}

func usage(r *compare.Result) []string {
	return []string{fmt.Sprint(r.Lost), micros(r.CPU.Server), micros(r.CPU.Publisher),
		micros(r.CPU.Subscribers), cell(r.RSS.Server, megabytes)}
}

// ratios writes how Fantail does beside the others.
func (t *table) ratios(c *compare.Case) {
	for i := range c.Results {
		r := &c.Results[i]
		for _, subject := range slices.Sorted(maps.Keys(r.Ratios)) {
			x := r.Ratios[subject]
			cells := []string{subject + " ÷ " + r.Peer}
			add := func(name string, s *compare.Summary) {
				if s != nil && s.N > 0 {
					cells = append(cells, name, Ratio(s.Median), span(*s, Ratio))
				}
			}
			switch {
			case c.Latencies():
				add("p50", x.LatencyP50)
				add("p99", x.LatencyP99)
			case c.Name == "ams":
				add("msg/s", &x.SubscriberPerS)
			default:
				add("delivered/s", &x.DeliveredPerS)
			}
			add("CPU", &x.CPU)
			if len(cells) > 1 {
				t.row(cells...)
			}
		}
	}
	t.flush()
}

// warnings says what makes a figure doubtful.
func (t *table) warnings(c *compare.Case) {
	for i := range c.Results {
		r := &c.Results[i]
		for _, e := range r.Errors {
			t.line("! a run failed: %s\n", e)
		}
		if r.Disorder+r.Torn > 0 {
			t.line("! %s: %d messages out of sequence, %d torn\n", r.Peer, r.Disorder, r.Torn)
		}
		for j := range r.Runs {
			if r.Runs[j].GaveUp {
				t.line("! %s: a run ended before all messages had come\n", r.Peer)
			}
		}
	}
	t.flush()
}

// cell is a summary's median.
func cell(s compare.Summary, f func(float64) string) string {
	if s.N == 0 {
		return "-"
	}
	return f(s.Median)
}

func megabytes(v float64) string { return fmt.Sprintf("%.0f MB", v/1e6) }

// span is a summary's least and most.
func span(s compare.Summary, f func(float64) string) string {
	if s.N == 0 {
		return "-"
	}
	return "[" + f(s.Min) + ".." + f(s.Max) + "]"
}

func micros(s compare.Summary) string {
	if s.N == 0 || s.Median == 0 {
		return "-"
	}
	return digits(s.Median) + " µs"
}

// Count writes a number in thousands or millions, to three digits.
func Count(v float64) string {
	switch {
	case v >= 1e6:
		return digits(v/1e6) + " M"
	case v >= 1e3:
		return digits(v/1e3) + " K"
	}
	return digits(v)
}

// Nanos writes a time, to three digits.
func Nanos(ns float64) string {
	switch {
	case ns >= 1e9:
		return digits(ns/1e9) + " s"
	case ns >= 1e6:
		return digits(ns/1e6) + " ms"
	}
	return digits(ns/1e3) + " µs"
}

// Ratio writes a factor.
func Ratio(v float64) string { return digits(v) + "×" }

// digits writes v to three digits.
func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
