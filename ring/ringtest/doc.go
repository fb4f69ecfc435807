// Package ringtest helps to test whatever carries messages: payloads that describe and
// check themselves, a history that finds loss, copies and disorder, and a Main that fails
// a package whose tests leak goroutines or descriptors.
//
//	 0        4        8        12       16          24          32       36       40
//	+--------+--------+--------+--------+-----------+-----------+--------+--------+------+-----+
//	| "FTP1" | bytes  | publ.  | topic  | sequence  | sent, ns  |  seed  | crc of | fill | crc |
//	|        | u32    | u32    | u32    | u64       | i64       |  u32   | 0..35  |      |     |
//	+--------+--------+--------+--------+-----------+-----------+--------+--------+------+-----+
//
// A payload is little-endian. Its last four bytes are the CRC-32C of all before them. The
// fill depends on publisher, sequence and seed, so that bytes of another message in the
// right place are wrong too.
//
// Ownership. Nothing is kept of the bytes that are checked.
// Concurrency. AppendPayload, CheckPayload and Seed: any goroutine. A History: one
// goroutine; make one for each stream of messages that is observed.
// When it fails. Errors say what was wanted, what was there, and where.
// Not here: anything for programs. Importing the package defines the flag -seed.
package ringtest
