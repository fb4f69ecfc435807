// Package frame is the layout of one message in the stream and on the wire.
//
// A frame is a 32-byte header and a payload, in little-endian byte order, padded with
// zero bytes to the next multiple of 8. What a publisher writes into the stream is, byte
// for byte, what a native subscriber reads from its socket.
//
//	 0               4       5       6       8
//	+---------------+-------+-------+-------+---------------+---------------+
//	| length   u32  | kind  | flags |   0   | topic    u32  | publisher u32 |
//	+---------------+-------+-------+-------+---------------+---------------+
//	| sequence u64                  16..23  | time  i64 ns          24..31  |
//	+---------------------------------------+-------------------------------+
//	| payload: length-32 bytes, then zero padding to a multiple of 8        |
//	+-----------------------------------------------------------------------+
//
// Ownership. Views (Payload) alias the bytes they were given and live as long as those.
// Concurrency. Pure functions; callers order access to shared bytes.
// When it fails. Parse answers an error that Is ErrShort (more bytes are needed) or
// ErrMalformed (no further byte can help).
// Not here: what a kind's payload says (netio/wire/native), or where frames live (ring).
package frame
