package netio

import (
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/netio/internal/sys"
	"github.com/fantail-io/fantail/netio/uring"
	"github.com/fantail-io/fantail/netio/writev"
	"github.com/fantail-io/fantail/ring"
)

// ioConn is a connection as its transport knows it.
type ioConn struct {
	fd       int           // epoll
	portable *portableConn // package net
}

// discard closes a connection that no transport has.
func (c ioConn) discard() {
	if c.portable != nil {
		c.portable.nc.Close()
		return
	}
	unix.Close(c.fd)
}

// takeOver makes nc's socket the shard's own: a descriptor that Go's netpoller does not
// watch. nc itself is closed.
func takeOver(nc net.Conn, sender string) (ioConn, error) {
	if sender == "portable" {
		return ioConn{portable: newPortableConn(nc)}, nil
	}
	defer nc.Close()
	tc, ok := nc.(syscall.Conn)
	if !ok { // such as one of TLS or of net.Pipe
		return ioConn{}, fmt.Errorf("%w: sender %s for a %T, which is no socket; use portable",
			ring.ErrNotSupported, sender, nc)
	}
	raw, err := tc.SyscallConn()
	if err != nil {
		return ioConn{}, err
	}
	fd := -1
	if cerr := raw.Control(func(own uintptr) {
		fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0)
	}); cerr != nil {
		return ioConn{}, cerr
	}
	if err != nil {
		return ioConn{}, fmt.Errorf("netio: duplicate the socket: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return ioConn{}, err
	}
	return ioConn{fd: fd}, nil
}

func newTransport(sender string) (transport, error) {
	switch sender {
	case "portable":
		return newPortable(), nil
	case "auto", "writev", "uring":
		return newEpoll(sender)
	}
	return nil, fmt.Errorf("netio: no sender is called %q; there are auto, writev, uring, portable",
		sender)
}

// epoll watches sockets edge-triggered, and an eventfd that wakes it.
type epoll struct {
	fd, bell int
	events   [256]sys.EpollEvent
	conns    map[int32]*Conn
	calls    uint64
	send     Sender
}

func newEpoll(sender string) (*epoll, error) {
	e := &epoll{conns: make(map[int32]*Conn), bell: -1}
	var err error
	if e.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("netio: epoll: %w", err)
	}
	if e.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		e.close()
		return nil, fmt.Errorf("netio: eventfd: %w", err)
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(e.bell)}
	if err := unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, e.bell, &event); err != nil {
		e.close()
		return nil, fmt.Errorf("netio: epoll: %w", err)
	}
	switch sender {
	case "uring":
		u, err := uring.NewSender(uring.Config{})
		if err != nil {
			e.close()
			return nil, fmt.Errorf("netio: io_uring: %w", err)
		}
		e.send = u
	case "writev":
		e.send = writev.New()
	default:
		e.send = newAuto()
	}
	return e, nil
}

func (e *epoll) sender() Sender { return e.send }

func (e *epoll) add(c *Conn) error {
	event := unix.EpollEvent{Fd: int32(c.io.fd),
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET}
	if err := unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, c.io.fd, &event); err != nil {
		return fmt.Errorf("netio: epoll: %w", err)
	}
	e.conns[int32(c.io.fd)] = c
	if mss, err := unix.GetsockoptInt(c.io.fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG); err == nil {
		c.wholeSegments(mss)
	}
	return e.send.Open(c.slot, c.io.fd)
}

func (e *epoll) remove(c *Conn) {
	e.send.Close(c.slot)
	delete(e.conns, int32(c.io.fd))
	unix.Close(c.io.fd)
}

func (e *epoll) wait(timeout time.Duration) (events int) {
	e.calls++
	n, err := sys.EpollWait(e.fd, e.events[:], timeout)
	if err != nil {
		panic("netio: epoll_wait on the shard's own set: " + err.Error())
	}
	for i := range e.events[:n] {
		event := &e.events[i]
		if event.Fd == int32(e.bell) {
			continue // edge-triggered: the next write rings again, no read is needed
		}
		c := e.conns[event.Fd]
		if c == nil {
			continue
		}
		if event.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			c.ending = true // there is no edge after this one
		}
		if event.Events&^unix.EPOLLOUT != 0 {
			c.shard.canRead(c)
			events++
		}
		if event.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 && !c.writable {
			c.writable = true
			events++
		}
	}
	return events
}

func (e *epoll) wake() { _ = sys.EventfdWrite(e.bell) }

func (e *epoll) read(c *Conn, b []byte) (int, error) {
	e.calls++
	for {
		n, err := sys.Recv(c.io.fd, b)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return 0, errAgain
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, ErrPeerClosed
		}
		return n, nil
	}
}

func (e *epoll) syscalls() uint64 { return e.calls }

func (e *epoll) pin(cpu int) error { return sys.PinThread(cpu) }

func (e *epoll) close() {
	if e.send != nil {
		_ = e.send.Release()
	}
	if e.bell >= 0 {
		unix.Close(e.bell)
	}
	unix.Close(e.fd)
}
