// Package ring is Fantail's memory model: a stream of frames that many publishers write
// and many followers read, and a bounded queue of ranges for each subscriber.
//
//	claim                        commit                     follow
//	tail word: claims|bytes ──▶  index entry: 0 → entry ──▶ word: block number|reading
//	one add gives place and      one compare-and-swap       eight messages a cache line
//	sequence
//
// Ownership. The bytes of a claim are its publisher's until Commit or Abort, and everyone's
// to read, and no one's to write, from then on until the block is reused. A block is reused
// when it has been passed by every gating follower and is being read by no other.
// A range in a Ring does not keep its block: whoever fills rings holds the stream back with
// Follower.Hold.
//
// Concurrency. Claim, and the methods of different Claims: any goroutine. A Follower, and
// each end of a Ring: one goroutine.
//
// When full. Claim answers ErrBackPressure at once where every block is gated. Ring.Append
// answers false. What then happens is policy, and is decided elsewhere.
//
// When a publisher dies or stalls between Claim and Commit, followers stop before its
// message, because order is total. After ClaimTimeout, Sweep expires the claim: followers
// skip it, and the stream goes on. The owner, should it come back, is told ErrClaimExpired;
// until it does its block is not reused, since it may still be writing there. A claim that
// is leaked for ever costs one block of the stream, is counted (Stats.SetAside), and costs
// nobody else anything.
//
// Not here: topics' names, policies' consequences, sockets, durability.
package ring
