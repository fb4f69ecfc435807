package ceiling

import (
	"fmt"
	"net"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/perf/usage"
	"github.com/fantail-io/fantail/perf/worker"
)

// Read is the child's job: it reads all sockets to their end.
func Read(s *worker.Session) (any, error) {
	var c readerConfig
	if err := s.Config(&c); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	address, err := net.ResolveTCPAddr("tcp4", c.Address)
	if err != nil {
		return nil, fmt.Errorf("ceiling: %w", err)
	}
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("ceiling: epoll: %w", err)
	}
	defer unix.Close(set)
	for range c.Sockets {
		fd, err := dial(address)
		if err != nil {
			return nil, err
		}
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		if err := unix.EpollCtl(set, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
			return nil, fmt.Errorf("ceiling: epoll: %w", err)
		}
	}
	if err := s.Ready(nil); err != nil {
		return nil, err
	}
	return drain(set, c.Sockets)
}

func dial(address *net.TCPAddr) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("ceiling: socket: %w", err)
	}
	to := unix.SockaddrInet4{Port: address.Port, Addr: [4]byte(address.IP.To4())}
	if err := unix.Connect(fd, &to); err != nil {
		return 0, fmt.Errorf("ceiling: connect: %w", err)
	}
	return fd, unix.SetNonblock(fd, true)
}

// drain reads until every socket has ended. The clock runs from the first byte to the last.
func drain(set, sockets int) (readerResult, error) {
	var r readerResult
	var events [128]unix.EpollEvent
	buffer := make([]byte, readBytes)
	for i := range buffer {
		buffer[i] = 1 // touch it
	}
	var first time.Time
	var before usage.Sample
	for sockets > 0 {
		n, err := unix.EpollWait(set, events[:], -1)
		if err != nil && err != unix.EINTR {
			return r, fmt.Errorf("ceiling: epoll: %w", err)
		}
		if first.IsZero() && n > 0 {
			before = usage.Now()
			first = time.Now()
		}
		for _, e := range events[:max(n, 0)] {
			got, err := unix.Read(int(e.Fd), buffer)
			r.Reads++
			if err == unix.EAGAIN || err == unix.EINTR {
				continue
			}
			if err != nil || got == 0 {
				unix.Close(int(e.Fd))
				sockets--
				continue
			}
			r.Bytes += uint64(got)
		}
	}
	r.Seconds = time.Since(first).Seconds()
	r.Usage = usage.Now().Since(before)
	return r, nil
}
