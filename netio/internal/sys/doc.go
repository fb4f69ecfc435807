// Package sys is the system calls of the data path, with nothing between them and the
// kernel: no allocation, no poller, no retry but where a function says so.
//
// Ownership. Buffers and vectors are the caller's; the kernel has finished with them when
// a function returns. Descriptors belong to whoever opened them; nothing here closes one by
// itself, and nothing here may be given one that another goroutine may be closing.
//
// Concurrency. Every function may be called from any goroutine; what the kernel does with
// two calls on one descriptor is the kernel's business. PinThread speaks of the calling
// thread, so its caller must have locked itself to one.
//
// When full or failing. Calls on sockets never wait: a full or an empty socket answers
// syscall.EAGAIN. Errors are bare syscall.Errno values, to be compared with ==. Returning
// one allocates nothing, because the runtime keeps boxes of integers below 256, and no
// error of these calls is greater. Outside Linux every function answers an
// *UnsupportedError.
//
// The trap. A call made with RawSyscall does not tell the scheduler. A thread that waits in
// one stops the garbage collector, and with it the process, until it comes back; and a loop
// of such calls without any ordinary call between them has no safe point at all, so that
// the collector waits for ever. Two rules keep us out of it:
//
//   - RawSyscall only for calls that cannot wait (MSG_DONTWAIT, a time-out of zero,
//     EFD_NONBLOCK), and whose own work is bounded. Whatever may wait uses Syscall, which
//     costs 0.2 µs more, and a P where the call takes longer than the scheduler's patience.
//   - Every function here that uses RawSyscall is kept from being inlined. Its prologue is
//     then a safe point, and so every loop that calls it has one.
//
// Not here: net.Conn, readiness policies, the use of io_uring (see netio/uring).
package sys
