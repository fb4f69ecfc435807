// Package peer measures one peer under one workload, and says what a peer has to be.
//
//	this process        broker          subscribers       publisher
//	Measure ── start ──▶ ready: address
//	        ── start ────────────────────▶ connected, subscribed: ready
//	        ── start ──────────────────────────────────────▶ connected: ready
//	        ── usage ──▶
//	        ── publish ────────────────────────────────────▶ … published
//	                                      … all have come
//	        ── usage ──▶
//
// Each is a process of its own. A peer whose publisher lives in the broker's process (an
// embedded engine, a library without a broker) has two processes instead of three.
//
// Ownership. Measure owns the processes that it starts and has ended them all when it
// returns. Concurrency. One Measure at a time.
// When it fails. Lost messages are no failure: they are counted, after Drain. An error is
// that of a process.
// Not here: the peers themselves, rounds and ratios (compare).
package peer
