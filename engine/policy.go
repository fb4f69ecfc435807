package engine

import (
	"time"

	"github.com/fantail-io/fantail/ring"
)

// Policy is what happens when a subscriber cannot keep up; see the functions that make one.
// The zero Policy of an in-process subscription is DropOldest(0).
type Policy = ring.Policy

// Gap is a hole in what a subscription gets, delivered in its place among the messages.
type Gap = ring.Gap

// Wait gates the publishers: nothing is lost, and Publish answers ErrBackPressure while the
// subscriber is a whole stream behind. Only for subscribers that publishers can trust.
func Wait() Policy { return Policy{Kind: ring.PolicyWait} }

// WaitFor gates the publishers for at most d (1 ms to 1 h), then goes on as DropOldest
// until the subscriber has caught up.
func WaitFor(d time.Duration) Policy { return Policy{Kind: ring.PolicyWaitFor, For: d} }

// DropNewest keeps at most maxLag messages for the subscriber and drops those that come
// after. Zero: ring.DefaultMaxLag.
func DropNewest(maxLag uint32) Policy {
	return Policy{Kind: ring.PolicyDropNewest, MaxLag: maxLag}
}

// DropOldest keeps the newest maxLag messages of the stream for the subscriber and drops
// older ones. Zero: as many as the stream's memory holds.
func DropOldest(maxLag uint32) Policy {
	return Policy{Kind: ring.PolicyDropOldest, MaxLag: maxLag}
}

// Conflate keeps the newest message of each topic for a subscriber that lags. Order is kept
// within a topic.
func Conflate() Policy { return Policy{Kind: ring.PolicyConflate} }

// Disconnect ends a subscription that is more than maxLag messages behind, or that the
// stream has no more room for; Poll then answers ErrSlowConsumer. Zero: the latter only.
func Disconnect(maxLag uint32) Policy {
	return Policy{Kind: ring.PolicyDisconnect, MaxLag: maxLag}
}

// Spill goes on from the journal. There is none yet: Subscribe answers ErrNotSupported.
func Spill() Policy { return Policy{Kind: ring.PolicySpill} }
