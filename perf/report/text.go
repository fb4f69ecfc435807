package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/fantail-io/fantail/perf/host"
)

// busy is the share of the CPU in other hands from which a run is called disturbed.
const busy = 0.1

// WriteText writes the report for a terminal.
func WriteText(w io.Writer, r *Report) {
	fmt.Fprintln(w)
	switch {
	case len(r.Parts) == 0:
		writeResult(w, &r.Result)
	case r.Workload == "ams":
		writeAMS(w, r)
	default:
		writeParts(w, r)
	}
	fmt.Fprintln(w)
	for _, n := range notes(r) {
		fmt.Fprintf(w, "  ! %s\n", n)
	}
	fmt.Fprintf(w, "  %s\n", HostLine(&r.Host))
	if r.Version != "" {
		fmt.Fprintf(w, "  fantail %s\n", r.Version)
	}
}

// notes are the report's own, and what its figures call for.
func notes(r *Report) []string {
	list := append([]string(nil), r.Notes...)
	worst := 0.0
	for _, p := range r.All() {
		if p.ForeignCPU != nil {
			worst = max(worst, *p.ForeignCPU)
		}
		if n := p.Corrupt + p.Repeated; n > 0 {
			list = append(list, fmt.Sprintf("%s: %s payloads were corrupt and %s came twice or "+
				"too late: this is a bug", title(&p), Count(p.Corrupt), Count(p.Repeated)))
		}
	}
	if worst > busy {
		list = append(list, fmt.Sprintf("other programs had up to %s of the CPU: expect more on "+
			"a quiet machine, and compare ratios only", Percent(worst)))
	}
	return list
}

// title names a result in a line.
func title(r *Result) string {
	if r.Workload == "idle" {
		return fmt.Sprintf("idle · %s connected, nothing published", plural(r.Subscribers,
			"subscriber"))
	}
	s := fmt.Sprintf("%s · 1 publisher → %s × %s B", r.Workload, plural(r.Subscribers,
		"subscriber"), Count(uint64(r.Size)))
	if r.Variant != "" {
		s += " · " + r.Variant
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func writeResult(w io.Writer, r *Result) {
	head := title(r)
	if n := len(r.Rounds); n > 1 {
		head += fmt.Sprintf(" · median of %d rounds", n)
	}
	fmt.Fprintf(w, "%s\n\n", head)
	var t table
	for _, row := range rows(r) {
		t.add(row[0], row[1], row[2])
	}
	writeFacts(w, &t)
	if len(r.Rounds) > 1 {
		fmt.Fprintln(w)
		writeRounds(w, r)
	}
}

// writeFacts writes name, figure, remark with the remarks to the left.
func writeFacts(w io.Writer, t *table) {
	facts := table{}
	for _, row := range t.rows {
		facts.add(row[0], row[1])
	}
	var b strings.Builder
	facts.write(&b, "  ")
	for i, line := range strings.Split(strings.TrimRight(b.String(), "\n"), "\n") {
		if remark := t.rows[i][2]; remark != "" {
			line += "   " + remark
		}
		fmt.Fprintln(w, line)
	}
}

// rows are the facts of a result: what, how much, and a remark.
func rows(r *Result) [][3]string {
	var list [][3]string
	add := func(name, figure, remark string) {
		list = append(list, [3]string{name, figure, remark})
	}
	if r.OfferedPerS > 0 {
		add("offered/s", whole(r.OfferedPerS), "open loop")
	}
	if r.Messages == 0 && r.Workload == "idle" {
		return costs(r)
	}
	add("published/s", whole(r.PublishedPerS), "")
	share := Bytes(Mbit(r.DeliveredPerS, r.Size)*1e6/8) + "/s of payload"
	if r.CeilingShare > 0 {
		share = fmt.Sprintf("%s of the ceiling, %s/s; %s", Percent(r.CeilingShare),
			Rate(r.CeilingPerS), share)
	}
	add("delivered/s", whole(r.DeliveredPerS), share)
	remark := ""
	if r.Workload == "openamq" || r.Workload == "topic_publish" {
		remark = "OpenAMQ itself, counted so: 140,000 to 150,000"
	}
	add("in + out/s", whole(r.InOutPerS), remark)
	add("lost", Count(r.Lost), fmt.Sprintf("of %s; gaps %s, corrupt %s, repeated %s",
		Count(r.Messages*uint64(max(1, r.Subscribers))), Count(r.Gaps), Count(r.Corrupt),
		Count(r.Repeated)))
	if l := r.Latency; l != nil {
		name := "latency p50"
		if r.OfferedPerS == 0 {
			name += ", queues full"
		}
		add(name, Span(l.P50), fmt.Sprintf("p90 %s, p99 %s, p99.9 %s, p99.99 %s, max %s",
			Span(l.P90), Span(l.P99), Span(l.P999), Span(l.P9999), Span(l.Max)))
	}
	return append(list, costs(r)...)
}

// costs are the facts about what a result took.
func costs(r *Result) [][3]string {
	var list [][3]string
	add := func(name, figure, remark string) {
		list = append(list, [3]string{name, figure, remark})
	}
	if r.CPU != nil && r.CPU.Server == 0 && r.CPU.Publisher > 0 {
		add("CPU s per million deliveries", digits(r.CPU.Publisher), "publisher")
	} else if r.CPU != nil {
		more := "server; subscribers " + digits(r.CPU.Subscribers)
		if r.CPU.Publisher > 0 {
			more += ", publisher " + digits(r.CPU.Publisher)
		}
		if r.CeilingCPU != nil {
			more += fmt.Sprintf("; the ceiling's %s and %s", digits(r.CeilingCPU.Server),
				digits(r.CeilingCPU.Subscribers))
		}
		add("CPU s per million deliveries", digits(r.CPU.Server), more)
	}
	if r.Cores != nil {
		more := "server; subscribers " + digits(r.Cores.Subscribers)
		if r.Cores.Publisher > 0 {
			more += ", publisher " + digits(r.Cores.Publisher)
		}
		add("cores in use", digits(r.Cores.Server), more)
	}
	if r.SyscallsPerDelivery != nil {
		remark := ""
		if r.BatchMean > 0 {
			remark = "batches of " + Bytes(r.BatchMean) + " on average"
		}
		if r.Sender != "" {
			remark = strings.TrimPrefix(remark+", sender "+r.Sender, ", ")
		}
		add("system calls per delivery", digits(*r.SyscallsPerDelivery), remark)
	}
	if r.AllocsPerPublish != nil {
		remark := ""
		if r.AllocsPerDelivery != nil {
			remark = "per delivery " + digits(*r.AllocsPerDelivery)
		}
		add("allocations per publish", digits(*r.AllocsPerPublish), remark)
	}
	if r.BackPressure != nil {
		add("publishes that waited", Count(*r.BackPressure), "")
	}
	if r.GC != nil {
		s, c := r.GC.Server, r.GC.Subscribers
		add("GC pauses", fmt.Sprint(s.Collections), fmt.Sprintf(
			"server, longest %s; subscribers %d, longest %s", Span(s.PauseMaxNS), c.Collections,
			Span(c.PauseMaxNS)))
	}
	if r.RSS != nil {
		add("RSS at its highest", Bytes(float64(r.RSS.Server)), "server; a subscriber process "+
			Bytes(float64(r.RSS.Subscriber)))
	}
	if r.ForeignCPU != nil {
		add("CPU of other programs", Percent(*r.ForeignCPU), "")
	}
	return list
}

func writeRounds(w io.Writer, r *Result) {
	t := table{head: []string{"round", "published/s", "delivered/s", "ceiling/s", "share",
		"others' CPU"}}
	for i, x := range r.Rounds {
		ceiling, share := dash, dash
		if x.CeilingPerS > 0 {
			ceiling, share = whole(x.CeilingPerS), Percent(x.CeilingShare)
		}
		t.add(fmt.Sprint(i+1), whole(x.PublishedPerS), whole(x.DeliveredPerS), ceiling, share,
			Percent(x.ForeignCPU))
	}
	t.write(w, "  ")
}

// HostLine is a fingerprint in a line.
func HostLine(h *host.Fingerprint) string {
	s := fmt.Sprintf("%s, %d cores", h.CPU, h.Cores)
	if h.Caches != "" {
		s += ", " + h.Caches
	}
	if h.Kernel != "" {
		s += fmt.Sprintf("; %s %s", h.OS, h.Kernel)
	}
	s += fmt.Sprintf("; %s, GOMAXPROCS %d", h.Go, h.GOMAXPROCS)
	if h.SyscallNS > 0 {
		s += fmt.Sprintf("; system call %s ns", digits(h.SyscallNS))
	}
	if h.CacheLineNS > 0 {
		s += fmt.Sprintf(", cache line to and fro %s ns", digits(h.CacheLineNS))
	}
	return strings.TrimPrefix(s, ", ")
}
