package sys

import (
	"math"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EpollEvent is the kernel's struct epoll_event. Fd and Pad are together the 64 bits that
// the kernel gives back unread; Fd need not be a descriptor.
type EpollEvent = unix.EpollEvent

// Operations of EpollCtl, and bits of EpollEvent.Events.
const (
	EpollAdd    = unix.EPOLL_CTL_ADD
	EpollDelete = unix.EPOLL_CTL_DEL
	EpollModify = unix.EPOLL_CTL_MOD

	EpollIn        = unix.EPOLLIN
	EpollOut       = unix.EPOLLOUT
	EpollError     = unix.EPOLLERR
	EpollHangup    = unix.EPOLLHUP
	EpollReadEnded = unix.EPOLLRDHUP // the peer sends no more
	EpollEdge      = unix.EPOLLET
)

// EpollCreate answers a new epoll set, closed on exec. The caller owns it.
func EpollCreate() (int, error) { return unix.EpollCreate1(unix.EPOLL_CLOEXEC) }

// EpollCtl adds fd to the set, changes it or takes it out. event may be nil for
// EpollDelete.
//
//go:noinline
func EpollCtl(set, operation, fd int, event *EpollEvent) error {
	// Safety: event is alive until the call returns, since it is this function's argument.
	_, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(set), uintptr(operation),
		uintptr(fd), uintptr(unsafe.Pointer(event)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// EpollPoll fills events with what is ready now, without waiting. events must not be empty.
//
//go:noinline
func EpollPoll(set int, events []EpollEvent) (int, error) {
	// Safety: events is alive until the call returns, since it is this function's argument.
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(set),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	if errno == syscall.EINTR {
		return 0, nil
	}
	return result(n, errno)
}

// EpollWait is EpollPoll that waits for the first event, for timeout at most; for ever
// where timeout is negative. The kernel counts in milliseconds: timeout is rounded up to
// one. It answers 0 events when the time is up, and also, earlier, when a signal interrupts
// it, as the runtime's own signals do: the caller looks at what it waits for and comes back.
func EpollWait(set int, events []EpollEvent, timeout time.Duration) (int, error) {
	if timeout == 0 {
		return EpollPoll(set, events)
	}
	milliseconds := -1
	if timeout > 0 {
		milliseconds = int(min((timeout-1)/time.Millisecond+1, math.MaxInt32))
	}
	// Safety: events is alive until the call returns, since it is this function's argument.
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(set),
		uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)),
		uintptr(milliseconds), 0, 0)
	if errno == syscall.EINTR {
		return 0, nil
	}
	return result(n, errno)
}

// Eventfd answers a new event counter at 0, in non-blocking mode and closed on exec. The
// caller owns it.
func Eventfd() (int, error) { return unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC) }

// EventfdWrite adds 1 to an event counter, which makes it readable and ends waits for it.
// EAGAIN where the counter is full; it is readable then.
//
//go:noinline
func EventfdWrite(fd int) error {
	one := uint64(1)
	// Safety: one is 8 bytes on this stack, which stays where it is during the call.
	_, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd),
		uintptr(unsafe.Pointer(&one)), unsafe.Sizeof(one))
	if errno != 0 {
		return errno
	}
	return nil
}

// EventfdRead answers how much was added to an event counter since the last EventfdRead,
// and sets it back to 0. EAGAIN where that is nothing.
//
//go:noinline
func EventfdRead(fd int) (uint64, error) {
	var count uint64
	// Safety: count is 8 bytes on this stack, which stays where it is during the call.
	_, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd),
		uintptr(unsafe.Pointer(&count)), unsafe.Sizeof(count))
	if errno != 0 {
		return 0, errno
	}
	return count, nil
}

// PinThread moves the calling thread to core cpu, counted from 0, and keeps it there. The
// caller must have locked its goroutine to its thread. EINVAL where there is no such core,
// or the process may not use it.
func PinThread(cpu int) error {
	if cpu < 0 {
		return syscall.EINVAL
	}
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set)
}
