// Package netiotest helps to test what moves messages over a network: a conformance suite
// that every sender of netio passes, and network namespaces to break.
//
// Ownership. A NetNS and everything that Run starts end with their test.
// Concurrency. Run's functions: the test's goroutine. NetNS.Do: one goroutine at a time.
// When it fails. A machine that lacks something skips with an *UnsupportedError's text; a
// machine on which it must run (FANOUT_MUST_RUN=netns, names separated by commas) fails.
// Not here: what the bytes mean. A door tests its protocol itself.
package netiotest
