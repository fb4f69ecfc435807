// Package compare runs the same workloads on several peers, in turn, and relates them.
//
// A round runs a workload once on each peer; the next begins with another peer, so that no
// one always runs on the machine that another has just warmed, or worn out. Figures are
// medians over the rounds, with the least and the most. A ratio is taken within a round,
// between runs that are seconds apart, and then the median of those is taken: what slows the
// whole machine for a while slows both.
//
// Concurrency. Run uses its caller's goroutine; Progress is called on it.
// When it fails. A run that fails is recorded, with its error, and the others go on. When ctx
// ends, Run returns what there is until then, and the context's error.
// Not here: how a peer is measured (peer), how results look (report).
package compare
