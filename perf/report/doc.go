// Package report is what a measurement ends in: figures with stable names, and the ways to
// show them: JSON, a table for the terminal, one HTML file with plots, Go's benchmark format,
// and the difference of two reports.
//
// Ownership. A Report is plain data; nothing here keeps or changes it.
// Concurrency. Pure functions of their arguments.
// When it fails. A figure that was not measured is absent (nil, or zero where zero cannot be
// a measurement), and is shown as a dash, never as a zero.
// Stability. JSON names never change meaning; docs/perf/json.md lists them, and a test reads
// it. Schema rises when a name goes away.
// Not here: how anything was measured.
package report
