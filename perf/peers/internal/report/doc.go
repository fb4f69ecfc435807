// Package report writes comparisons down: a table for people, JSON for programs.
//
// The JSON's field names are those of package perf's reports where they mean the same, and
// stay: fields may be added. Figures that were measured in each round are objects of median,
// min, max and n; the rounds themselves are under runs. Units end the names; CPU seconds per
// million deliveries are also microseconds per delivery; latencies are nanoseconds.
//
// Not here: the figures' meaning (peer.Measurement says it).
package report
