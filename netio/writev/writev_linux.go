// Package writev sends with one vectored system call a connection: sendmsg, which is
// writev without SIGPIPE and with a flag that forbids waiting.
//
// Ownership. Views are the caller's, and must stay as they are from Queue to Flush.
// Concurrency. A Sender belongs to one goroutine.
// When full. The kernel takes less than was offered: that is back pressure, not an error.
package writev

import (
	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// Sender implements netio.Sender.
type Sender struct {
	conns  []conn // by slot
	queued []int  // slots
}

type conn struct {
	fd     int
	pieces []sys.Iovec // reused
}

// New makes a sender.
func New() *Sender { return &Sender{} }

// Name is "writev".
func (s *Sender) Name() string { return "writev" }

// Open notes a socket.
func (s *Sender) Open(slot, fd int) error {
	for slot >= len(s.conns) {
		s.conns = append(s.conns, conn{fd: -1})
	}
	s.conns[slot].fd = fd
	return nil
}

// Close forgets it.
func (s *Sender) Close(slot int) {
	if slot < len(s.conns) {
		s.conns[slot] = conn{fd: -1}
	}
}

// Queue builds the connection's I/O vectors.
func (s *Sender) Queue(slot int, views [][]byte) {
	c := &s.conns[slot]
	for len(c.pieces) < len(views) {
		c.pieces = append(c.pieces, sys.Iovec{})
	}
	c.pieces = c.pieces[:len(views)]
	for i, v := range views {
		c.pieces[i].Set(v)
	}
	s.queued = append(s.queued, slot)
}

// Flush makes one system call for each connection that was queued.
func (s *Sender) Flush(done func(slot int, n int, err error)) (syscalls int) {
	for _, slot := range s.queued {
		c := &s.conns[slot]
		n, err := sys.Sendmsg(c.fd, c.pieces, 0)
		syscalls++
		for err == unix.EINTR {
			n, err = sys.Sendmsg(c.fd, c.pieces, 0)
			syscalls++
		}
		if err == unix.EAGAIN {
			n, err = 0, nil
		}
		done(slot, n, err)
	}
	s.queued = s.queued[:0]
	return syscalls
}

// Release has nothing to give back.
func (s *Sender) Release() error { return nil }
