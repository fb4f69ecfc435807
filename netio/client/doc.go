// Package client is the library of applications that publish to, and subscribe at, a
// Fantail server, in the protocol of docs/protocol/native.md.
//
//	Publisher ──Publish──▶ batch ──sender goroutine──▶ connection ──▶ server
//	Subscription ◀──Poll── read buffer ◀── connection of its own ◀── server
//	Group ◀──Poll── one read buffer ◀── epoll ◀── many subscriptions' connections
//
// Connections. A Client has one to publish on. Each Subscription has its own, because TCP's
// back pressure, and the server's slow-consumer policies, are per connection: a subscription
// that is slow then slows no other.
//
// Ownership. A *Message and its Payload are views of a read buffer, valid until the function
// that was handed them returns; copy what must live longer. Payloads of Publish are copied.
//
// Concurrency. A Client and its Publishers: any goroutine. A Subscription or a Group is
// polled by one goroutine at a time; Close may be called from any. A Client runs two
// goroutines, and a subscription one while it reconnects; Close waits for them.
//
// When full. Two batches of Config.BatchBytes bound what Publish keeps: one that is being
// filled, and one in flight. Publish then answers ErrBackPressure, and PublishContext waits.
// A subscriber that does not poll is slow, and gets what its policy says.
//
// When the connection fails. It is made again, with jittered exponential back-off (see
// Reconnect). A publisher's messages that were on their way may be lost: Flush and Close
// answer a *LostError that says how many at most. A subscription delivers a gap of reason
// ring.GapReconnect, and goes on.
//
// Not here: TLS, durable positions, topics' rules (the server has the last word).
package client
