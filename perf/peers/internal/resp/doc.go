// Package resp reads and writes as much of the Redis serialization protocol, version 2, as
// publishing and subscribing take.
//
//	+text␍␊   -error␍␊   :integer␍␊   $length␍␊bytes␍␊   *count␍␊ then so many of these
//
// Ownership. What Parse returns aliases the bytes it was given. A Reply's Items are reused by
// the next Parse into it.
// Concurrency. Pure functions.
// When it fails. Parse answers ErrShort until the whole reply is there, and ErrMalformed when
// no further byte can help.
// Not here: arrays in arrays, and version 3's types; neither comes to a publisher or
// subscriber.
package resp
