// Package usage reads what a process, and its host, have consumed: CPU seconds, resident
// memory, allocations, collections of garbage.
//
// Ownership. A Sample is a value. Concurrency. Any goroutine, at any time; reading the
// runtime's figures stops the world for tens of microseconds, so it is done before and after
// what is measured, not in it.
// When it fails. What the system does not tell is zero.
// Not here: what the figures are divided by.
package usage
