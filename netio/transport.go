package netio

import (
	"errors"
	"time"
)

// errAgain says that a socket has nothing to read now.
var errAgain = errors.New("netio: nothing to read now")

// Sender moves views into the kernel for many connections at once. It belongs to one shard.
// Connections are known by their slots.
type Sender interface {
	// Open and Close tell of a socket; fd stays open from one to the other.
	Open(slot, fd int) error
	Close(slot int)
	// Queue notes views for the next Flush, which must not change before. Once a Flush.
	Queue(slot int, views [][]byte)
	// Flush submits what was queued, without waiting for any peer, and tells for each
	// connection how many bytes the kernel took; fewer than were queued, with a nil error,
	// is back pressure. It answers the number of system calls.
	Flush(done func(slot int, n int, err error)) (syscalls int)
	// Name is what Sender is called in flags and reports.
	Name() string
	// Release gives the sender's resources back.
	Release() error
}

// transport is how a shard meets the operating system: epoll on Linux, goroutines on
// package net elsewhere.
type transport interface {
	// add starts watching c.io; remove ends it and closes the socket.
	add(c *Conn) error
	remove(c *Conn)
	// wait sets readable and writable of connections that became so, and answers after
	// timeout (0: at once; negative: never) or a wake at the latest.
	wait(timeout time.Duration) (events int)
	// wake ends a wait under way, or the next one. Any goroutine.
	wake()
	// read answers errAgain where there is nothing now.
	read(c *Conn, b []byte) (int, error)
	sender() Sender
	// pin moves the calling thread to a core.
	pin(cpu int) error
	syscalls() uint64 // so far, but the sender's
	close()
}
