// Package load is the work that every peer is given, and how it is measured: the payload's
// layout, the loop that publishes, the meter at each subscriber.
//
//	 0             4             8                           16
//	+-------------+-------------+---------------------------+--------- - - -----------+
//	| remaining   | sequence    | due time, ns, or 0        | fill    | sequence again |
//	+-------------+-------------+---------------------------+--------- - - -----------+
//
// Big-endian. The first word counts down to 1 as in the AMS benchmark (in a run that is
// bounded by time it stays at 2 until the last message), the sequence counts up from 1, and
// the due time is when the message was meant to be sent, by the host's wall clock, which
// publisher and subscribers share; 0 says that this message's latency is not recorded. The
// sequence stands at the end once more, so that a torn payload shows.
//
// Ownership. A Meter belongs to the goroutine that reads its subscriber's messages until its
// done function was called. Payloads are looked at and not kept.
// When it fails. A meter counts what is lost, out of order, or torn; it stops nothing.
// Not here: how messages travel (the peers).
package load
