//go:build !linux

package sys

import "time"

// EpollEvent stands for the kernel's struct epoll_event where there is none.
type EpollEvent struct {
	Events  uint32
	Fd, Pad int32
}

// Operations of EpollCtl, and bits of EpollEvent.Events.
const (
	EpollAdd    = 1
	EpollDelete = 2
	EpollModify = 3

	EpollIn        = 0x1
	EpollOut       = 0x4
	EpollError     = 0x8
	EpollHangup    = 0x10
	EpollReadEnded = 0x2000
	EpollEdge      = 0x80000000
)

var (
	errSocket  = &UnsupportedError{Feature: "raw sockets calls", MinKernel: "Linux 4.3"}
	errEpoll   = &UnsupportedError{Feature: "epoll", MinKernel: "Linux 2.6.27"}
	errEventfd = &UnsupportedError{Feature: "eventfd", MinKernel: "Linux 2.6.27"}
	errPin     = &UnsupportedError{Feature: "thread affinity", MinKernel: "Linux 2.6"}
)

// Send is not supported here.
func Send(fd int, b []byte, flags int) (int, error) { return 0, errSocket }

// Sendmsg is not supported here.
func Sendmsg(fd int, iov []Iovec, flags int) (int, error) { return 0, errSocket }

// Writev is not supported here.
func Writev(fd int, iov []Iovec) (int, error) { return 0, errSocket }

// Recv is not supported here.
func Recv(fd int, b []byte) (int, error) { return 0, errSocket }

// Accept4 is not supported here.
func Accept4(listener int) (int, error) { return 0, errSocket }

// Dup is not supported here.
func Dup(fd int) (int, error) { return 0, errSocket }

// Close is not supported here.
func Close(fd int) error { return errSocket }

// EpollCreate is not supported here.
func EpollCreate() (int, error) { return 0, errEpoll }

// EpollCtl is not supported here.
func EpollCtl(set, operation, fd int, event *EpollEvent) error { return errEpoll }

// EpollPoll is not supported here.
func EpollPoll(set int, events []EpollEvent) (int, error) { return 0, errEpoll }

// EpollWait is not supported here.
func EpollWait(set int, events []EpollEvent, timeout time.Duration) (int, error) {
	return 0, errEpoll
}

// Eventfd is not supported here.
func Eventfd() (int, error) { return 0, errEventfd }

// EventfdWrite is not supported here.
func EventfdWrite(fd int) error { return errEventfd }

// EventfdRead is not supported here.
func EventfdRead(fd int) (uint64, error) { return 0, errEventfd }

// PinThread is not supported here.
func PinThread(cpu int) error { return errPin }
