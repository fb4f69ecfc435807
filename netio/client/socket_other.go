//go:build !unix

package client

import (
	"errors"
	"net"
	"os"
	"time"
)

// patience is how long a read that should not wait does so where the system has no other
// way to ask for what is there.
const patience = time.Millisecond

type netSocket struct{ c net.Conn }

func newSocket(c net.Conn) (waiter, error) { return &netSocket{c: c}, nil }

func (s *netSocket) read(b []byte) (int, error) {
	s.setReadDeadline(time.Now().Add(patience))
	return s.wait(b)
}

func (s *netSocket) wait(b []byte) (int, error) {
	n, err := s.c.Read(b)
	if n > 0 {
		return n, nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errAgain
	}
	return 0, err
}

func (s *netSocket) write(b []byte) (int, error) {
	_ = s.c.SetWriteDeadline(time.Now().Add(patience))
	return s.c.Write(b)
}

func (s *netSocket) setReadDeadline(t time.Time) { _ = s.c.SetReadDeadline(t) }

func (s *netSocket) conn() net.Conn { return s.c }

func (s *netSocket) close() { s.c.Close() }
