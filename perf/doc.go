// Package perf measures Fantail. Workloads are values: a Config says what is measured, and
// Run answers a report.
//
//	Run ──▶ round ──▶ engine + native door + publisher      (this process)
//	          │         └── loopback TCP ──▶ subscribers    (children, netio/client)
//	          └────▶ ceiling                                (perf/ceiling, alternating)
//
// Ownership. A run owns its engine, its listener and its children, and has ended them when
// it returns, whatever happened.
// Concurrency. One run at a time: two share the machine. Progress is called on one goroutine
// at a time.
// When it fails. An error ends the run. A message that is lost, corrupt or repeated is no
// error but a figure of the report.
// Not here: flags (cmd/perf), tables and plots (perf/report), other systems (perf/peers).
package perf
