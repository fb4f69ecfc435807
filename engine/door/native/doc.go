// Package native is the door through which remote publishers and subscribers reach an
// engine with Fantail's own protocol (docs/protocol/native.md).
//
// Ownership. A Listener owns its sockets and its shards. The engine must outlive it;
// Engine.Close closes it.
//
// Concurrency. Methods of a Listener may be called from any goroutine. Sessions live on
// their shard's goroutine.
//
// When full. A subscriber that is slow is served by the policy that it asked for. A
// publisher that meets back pressure is not read until there is room: TCP then holds it
// back. A peer that breaks a limit of Config gets an ERROR frame that names the limit, is
// closed, and is counted.
//
// Not here: the frames themselves (netio/wire/native), how bytes reach sockets (netio).
package native
