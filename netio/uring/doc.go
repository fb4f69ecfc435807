// Package uring sends to many sockets with one system call: raw io_uring, without cgo.
//
//	PrepSend ─┐                        ┌─▶ send, send, send … ─▶ results
//	PrepSend ─┼─▶ submission ring ─▶ enter                          │
//	PrepSendmsg ┘                      └◀── results ◀───────────────┘
//	                                    fn(userData, result)
//
// A Ring is the mechanism; a Sender is a Ring behind the interface that a shard has for its
// sockets (netio.Sender). Every send carries MSG_DONTWAIT and MSG_NOSIGNAL: a socket that is
// full answers EAGAIN in the same enter, or takes a part, and no send is ever left waiting
// in the kernel. So when SubmitAndReap comes back, the kernel has finished with every
// buffer, and each preparation has had its one result.
//
// Ownership. A buffer or vector array is the kernel's from its preparation to its result,
// and must not change; the Ring keeps it alive. Descriptors stay the caller's: it takes a
// file off its slot before it closes it, or else the kernel keeps the connection open.
//
// Concurrency. A Ring or Sender belongs to one OS thread, from New to Close: its goroutine
// is locked to it (runtime.LockOSThread). The kernel answers EEXIST to any other thread.
//
// When full or failing. A Ring with no entry left answers ErrFull: submit, and go on; a
// Sender does so by itself. Where the kernel is older than Linux 5.12, or a container or
// sysctl forbids io_uring, Probe and New answer an *UnsupportedError, which is
// ring.ErrNotSupported, and netio falls back to netio/writev.
//
// Not here: readiness (epoll tells the shard), receiving, zero-copy sends (design note 0002
// says why not), waiting for anybody.
package uring
