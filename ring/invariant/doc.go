// Package invariant says whether this build checks itself: Enabled is a constant, true
// under -tags invariants and under -race, so that a guarded check costs other builds
// nothing, not even a branch. Yield widens, in those builds, the moments in which another
// goroutine could get in between, so that tests get to see them.
package invariant
