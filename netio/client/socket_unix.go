//go:build unix

package client

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// netSocket reads a net.Conn in the runtime's poller without waiting for it.
type netSocket struct {
	c   net.Conn
	raw syscall.RawConn

	// What onRead and onWrite, which are made once, work on.
	b       []byte
	n       int
	err     error
	waiting bool
	onRead  func(fd uintptr) bool
	onWrite func(fd uintptr) bool
}

func newSocket(c net.Conn) (waiter, error) {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &netSocket{c: c, raw: raw}
	s.onRead = func(fd uintptr) bool {
		s.n, s.err = receive(int(fd), s.b)
		return !s.waiting || s.err != errAgain
	}
	s.onWrite = func(fd uintptr) bool {
		s.n, s.err = syscall.Write(int(fd), s.b)
		return true
	}
	return s, nil
}

func (s *netSocket) read(b []byte) (int, error) {
	n, err := s.do(s.raw.Read, s.onRead, b, false)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		// The deadline is that of an earlier wait.
		s.setReadDeadline(time.Time{})
		n, err = s.do(s.raw.Read, s.onRead, b, false)
	}
	return n, err
}

func (s *netSocket) wait(b []byte) (int, error) {
	n, err := s.do(s.raw.Read, s.onRead, b, true)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		err = errAgain
	}
	return n, err
}

func (s *netSocket) write(b []byte) (int, error) {
	n, err := s.do(s.raw.Write, s.onWrite, b, false)
	return max(n, 0), err
}

func (s *netSocket) do(call func(func(uintptr) bool) error, f func(uintptr) bool, b []byte,
	wait bool) (int, error) {
	s.b, s.n, s.err, s.waiting = b, 0, nil, wait
	err := call(f)
	s.b = nil
	if s.n == 0 && err == nil {
		err = s.err
	}
	return s.n, err
}

func (s *netSocket) setReadDeadline(t time.Time) { _ = s.c.SetReadDeadline(t) }

func (s *netSocket) conn() net.Conn { return s.c }

func (s *netSocket) close() { s.c.Close() }

// received gives a system call's answer the meaning that socket.read has.
func received(n int, err error) (int, error) {
	switch {
	case err == syscall.EAGAIN:
		return 0, errAgain
	case err != nil:
		return 0, os.NewSyscallError("recv", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
