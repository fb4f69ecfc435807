// Package engine is Fantail inside an application: publish once, deliver to many.
//
//	Publisher ──claim/commit──▶ stream ──follow──▶ Subscription (this process)
//	                                  └──follow──▶ doors (engine/door/…: other processes)
//
// Ownership. A payload given to Publish is copied once, into the stream, and is the
// caller's again. A claim's bytes are the caller's until Commit. A Message and its payload
// are views of the stream: they are valid until the function that was handed them returns.
//
// Concurrency. An Engine may be used by any goroutine. A Publisher, and a Subscription,
// belong to one goroutine at a time; make as many as there are goroutines. Snapshot may be
// called by anyone at any time.
//
// When full. The stream's memory is bounded by Config. Publish answers ErrBackPressure at
// once when every block is held by a Wait subscriber; a subscriber with any other policy
// loses messages before it holds a publisher back, and is told which and why.
//
// Not here: sockets and protocols (engine/door), durability.
package engine
