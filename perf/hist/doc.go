// Package hist counts latencies: HDR histograms in nanoseconds that processes can exchange.
//
// Ownership. A Histogram belongs to one goroutine; merge those of many when they are done.
// Memory. About 230 KiB each, taken at once; Record allocates nothing.
// When full. Latencies over Highest are counted as Highest, those under 1 ns as 1 ns:
// nothing is left out.
// Not here: where latency is counted from (perf/load).
package hist
