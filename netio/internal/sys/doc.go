// Package sys is the system calls of the data path, without allocation.
//
// Calls that cannot block use RawSyscall, which the Go scheduler does not see; calls that
// may wait use Syscall. A loop that makes nothing but raw calls has no point at which the
// garbage collector could stop it, and hangs it for ever: every such loop must also make an
// ordinary Go call.
//
// Concurrency. As the descriptors allow; the functions keep nothing.
// Not here: policy of any kind. Errors are bare system errors, boxed once.
package sys
