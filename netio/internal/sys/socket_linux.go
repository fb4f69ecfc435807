package sys

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Safety: what is handed to the kernel below must be laid out as the kernel has it.
var (
	_ [unsafe.Sizeof(unix.Iovec{})]byte       = [unsafe.Sizeof(Iovec{})]byte{}
	_ [unsafe.Offsetof(unix.Iovec{}.Len)]byte = [unsafe.Offsetof(Iovec{}.size)]byte{}
)

const sendFlags = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL

// result is a system call's answer as Go has it.
func result(n uintptr, errno syscall.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// Send hands b to the socket fd and answers how many bytes it took, which may be fewer. It
// never waits, whatever the socket's own mode: EAGAIN where it is full. EPIPE or ECONNRESET
// where the peer is gone, without a SIGPIPE. flags are added to MSG_DONTWAIT|MSG_NOSIGNAL.
//
//go:noinline
func Send(fd int, b []byte, flags int) (int, error) {
	// Safety: b is alive until the call returns, since it is this function's argument.
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		uintptr(flags|sendFlags), 0, 0)
	return result(n, errno)
}

// Sendmsg is Send of up to MaxIovecs pieces in one call. It is what a sink for sockets
// should use: Writev has no flags, so that on a socket whose peer has gone it raises
// SIGPIPE, and waits where the socket is not in non-blocking mode.
//
//go:noinline
func Sendmsg(fd int, iov []Iovec, flags int) (int, error) {
	var message unix.Msghdr
	// Safety: Iovec and unix.Iovec have one layout (checked above), and message, which is
	// on this stack, keeps the array and through it the bytes alive until the call returns.
	message.Iov = (*unix.Iovec)(unsafe.Pointer(unsafe.SliceData(iov)))
	message.SetIovlen(len(iov))
	n, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd),
		uintptr(unsafe.Pointer(&message)), uintptr(flags|sendFlags))
	return result(n, errno)
}

// Writev writes up to MaxIovecs pieces to fd, which may be anything. It waits where fd is
// not in non-blocking mode, and raises SIGPIPE where the reader is gone; the runtime
// swallows that signal, but for descriptors 1 and 2. See Sendmsg for sockets.
func Writev(fd int, iov []Iovec) (int, error) {
	// Safety: as in Sendmsg; Syscall, since this may wait.
	n, _, errno := unix.Syscall(unix.SYS_WRITEV, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(iov))), uintptr(len(iov)))
	return result(n, errno)
}

// Recv takes what the socket fd has, up to len(b) bytes, without waiting: EAGAIN where there
// is nothing. 0 with a nil error is the peer's orderly end, if b is not empty.
//
//go:noinline
func Recv(fd int, b []byte) (int, error) {
	// Safety: b is alive until the call returns, since it is this function's argument.
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
		uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT, 0, 0)
	return result(n, errno)
}

// Accept4 takes one connection from the listening socket, in non-blocking mode and closed on
// exec. EAGAIN where there is none and the listener is in non-blocking mode; otherwise it
// waits. The caller owns the answer.
func Accept4(listener int) (int, error) {
	fd, _, errno := unix.Syscall6(unix.SYS_ACCEPT4, uintptr(listener), 0, 0,
		unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	return result(fd, errno)
}

// Dup answers another descriptor of what fd is, closed on exec. The caller owns it.
func Dup(fd int) (int, error) {
	n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	return n, err
}

// Close closes fd. It is not to be retried, whatever it answers.
func Close(fd int) error { return unix.Close(fd) }
