// Package host says what machine a figure was measured on, and how that machine behaves:
// what it is made of, what its kernel guards against, what a system call and a cache line
// that changes cores cost now.
//
// Ownership. A Fingerprint is a value. Concurrency. Any goroutine; Probe keeps two cores
// busy for some 30 ms, so it is done before what is measured.
// When it fails. What cannot be found out is left empty: no figure is guessed.
// Not here: what the measured process consumed (perf/usage).
package host
