// Package native is the codec of Fantail's own protocol, as docs/protocol/native.md
// describes it: what the body of each kind of frame says.
//
//	client                                server
//	HELLO{version, name, token}  ──▶
//	                             ◀──  WELCOME{limits, stream, next sequence} or ERROR
//	SUBSCRIBE{pattern, policy}   ──▶
//	                             ◀──  SUBSCRIBED{next sequence} or ERROR
//	                             ◀──  TOPIC{number, name}, then DATA, GAP, …
//	TOPIC{alias, name}           ──▶
//	PUBLISH{alias, payload}      ──▶
//	HEARTBEAT{n}                 ──▶
//	                             ◀──  HEARTBEAT{n, reply}
//
// Append functions append a whole frame, header and padding included, and answer the
// longer slice. Parse functions take what frame.Parse answered; a frame that they accept,
// appended again, is the same bytes but for the padding.
//
// Ownership. Byte slices of a parsed value alias the body that it was parsed from, and live
// as long as that; strings are copies.
// Concurrency. Pure functions.
// When it fails. Parse answers an *Error, which can be sent to the peer as it is. Append
// trusts its caller: a value over a limit of this package makes a frame that Parse refuses.
// Not here: sockets, sessions, what a topic's name may consist of (engine/topic).
package native
