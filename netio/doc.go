// Package netio moves ranges of a stream into sockets, and bytes from sockets to sessions.
//
//	stream ──follow──▶ Shard ──range──▶ Conn's ring ──submit──▶ Sender ──▶ kernel
//	                     │ one goroutine on one thread; epoll; a turn at a time
//	                     └◀── Session (a door's protocol state, one a connection) ◀── bytes
//
// A shard's turn: look for events, read, follow the stream and append ranges to the rings
// of the connections that want them, submit every connection's output in one batch, say
// which blocks are still needed, and wait if there was nothing to do.
//
// Ownership. Everything of a shard belongs to its goroutine: its connections, their rings,
// their sessions. Do runs a function there. Bytes handed to a Session are a view, valid
// during the call. Blocks of the stream are kept by the shard's own hold on the stream for
// as long as a ring has a range in them.
//
// Concurrency. Do, Adopt, Snapshot and Close: any goroutine. Methods of Conn and of
// Session: the shard's goroutine, unless they say otherwise.
//
// When full. A connection whose ring or socket is full is slow: its policy decides. Only
// Wait and WaitFor hold the stream back.
//
// Not here: what the bytes mean (engine/door, netio/wire), topics' names.
package netio
