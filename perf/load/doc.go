// Package load makes the load of a measurement and checks what comes out of it: payloads
// whose every byte says which message they belong to, a clock that processes share, and the
// times at which messages are due.
//
//	payload:  | number u64 | body: a window of a fixed pattern, placed by the number |
//	stamped:  | number u64 | due i64 ns | body |
//	countdown:| messages left u32, big-endian | body |      (the AMS benchmark's)
//
// A payload shorter than its head holds the head's low bytes, or for a countdown its high
// ones, as far as they go. Zero bytes are the END of a run.
//
// Ownership. Put writes, and Check reads, the caller's bytes and keeps nothing of them.
// Concurrency. A Pattern and a Clock never change: any goroutine. A Tracker and a Pacer
// belong to one goroutine.
// Cost. Check compares the whole payload: 12 ns for 500 bytes in cache.
// Not here: how messages travel.
package load
