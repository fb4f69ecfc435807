package sys

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Set-up flags of io_uring, and the kernels that have them.
const (
	UringSQPoll       = 1 << 1  // a kernel thread takes submissions: 5.1, for anybody since 5.11
	UringSubmitAll    = 1 << 7  // a bad submission does not stop those behind it: 5.18
	UringCoopTaskrun  = 1 << 8  // no interrupt for completions: 5.19
	UringSingleIssuer = 1 << 12 // one thread only, others are told EEXIST: 6.0
	UringDeferTaskrun = 1 << 13 // completions are worked on in enter only: 6.1
)

// UringFeatures are the features that OpenUring insists on: one mapping for both rings,
// completions that are never dropped, arguments copied at submission, and workers that are
// threads of this process. The last is of Linux 5.12.
const UringFeatures = 1<<0 | 1<<1 | 1<<2 | 1<<9

// Flags of system calls and of the submission ring.
const (
	uringEnterWait = 1 << 0 // wait for completions; run deferred work
	UringEnterWake = 1 << 1 // wake the kernel's thread

	UringNeedWake = 1 << 0 // the kernel's thread sleeps
)

// Operations of a UringEntry.
const (
	uringSendmsg = 9  // 5.3
	uringSend    = 26 // 5.6

	uringFixedFile = 1 << 0 // FD is a slot of the files table

	uringRegisterFiles       = 2
	uringUnregisterFiles     = 3
	uringRegisterFilesUpdate = 6

	uringOffsetRings   = 0
	uringOffsetEntries = 0x10000000
)

// UringEntry is the kernel's struct io_uring_sqe, as far as sends need it.
type UringEntry struct {
	opcode, flags uint8
	priority      uint16
	fd            int32
	offset        uint64
	address       uint64
	size          uint32
	opFlags       uint32
	userData      uint64
	rest          [3]uint64
}

// UringResult is the kernel's struct io_uring_cqe.
type UringResult struct {
	UserData uint64
	// Result is what the call would have answered: bytes, or a negative errno.
	Result int32
	Flags  uint32
}

type uringParams struct {
	sqEntries, cqEntries, flags, threadCPU, threadIdle, features, workers uint32
	reserved                                                              [3]uint32
	sq                                                                    struct {
		head, tail, mask, entries, flags, dropped, array, reserved uint32
		address                                                    uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, results, flags, reserved uint32
		address                                                       uint64
	}
}

// UringMessage is the kernel's struct msghdr.
type UringMessage struct{ header unix.Msghdr }

// Safety: layouts that the kernel shares; a change must not compile.
var (
	_ [64]byte  = [unsafe.Sizeof(UringEntry{})]byte{}
	_ [32]byte  = [unsafe.Offsetof(UringEntry{}.userData)]byte{}
	_ [16]byte  = [unsafe.Sizeof(UringResult{})]byte{}
	_ [120]byte = [unsafe.Sizeof(uringParams{})]byte{}
	_ [80]byte  = [unsafe.Offsetof(uringParams{}.cq)]byte{}
)

// SetSend makes e a Send of b to file: a slot of the files table where fixed is true, or a
// descriptor. The kernel has the address only: the caller keeps b alive, and off the stack,
// until the result is there.
func (e *UringEntry) SetSend(file int32, fixed bool, b []byte, userData uint64) {
	// Safety: the caller keeps b alive and unmoved, as it is told to.
	address := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	e.set(uringSend, file, fixed, address, min(len(b), maxSendBytes), userData)
}

// SetSendmsg makes e a Sendmsg of iov by way of m. The kernel has the address of m only:
// the caller keeps m, which keeps iov and the bytes, alive and off the stack until the
// result is there, and does not change them.
func (e *UringEntry) SetSendmsg(file int32, fixed bool, m *UringMessage, iov []Iovec,
	userData uint64) {
	// Safety: Iovec and unix.Iovec have one layout (checked in socket_linux.go), and the
	// caller keeps m alive and unmoved, as it is told to.
	m.header.Iov = (*unix.Iovec)(unsafe.Pointer(unsafe.SliceData(iov)))
	m.header.SetIovlen(len(iov))
	e.set(uringSendmsg, file, fixed, uintptr(unsafe.Pointer(m)), 1, userData)
}

// UserData is what the entry was set with.
func (e *UringEntry) UserData() uint64 { return e.userData }

// maxSendBytes keeps lengths and results within 31 bits.
const maxSendBytes = 1 << 30

func (e *UringEntry) set(opcode uint8, file int32, fixed bool, address uintptr, size int,
	userData uint64) {
	flags := uint8(0)
	if fixed {
		flags = uringFixedFile
	}
	*e = UringEntry{opcode: opcode, flags: flags, fd: file, address: uint64(address),
		size: uint32(size), opFlags: sendFlags, userData: userData}
}

// Uring is an open io_uring and its mapped rings. Its memory is shared with the kernel: each
// side writes its own words, and reads the other's.
type Uring struct {
	fd             int
	rings, entries []byte // mappings
	value          int32  // argument of UpdateFile

	// Flags are those of the set-up that are in force.
	Flags uint32
	// SQHead is the kernel's, SQTail and CQHead ours, CQTail the kernel's; they count up,
	// and wrap, and name an entry when masked. SQFlags and CQOverflow are the kernel's.
	SQHead, SQTail, SQFlags, CQHead, CQTail, CQOverflow *atomic.Uint32
	// Entries and Results are the rings; their lengths are powers of two.
	Entries []UringEntry
	Results []UringResult
}

// OpenUring sets an io_uring up, for entries submissions rounded up to a power of two, and
// maps it. idleMilliseconds is for UringSQPoll. Any error is the set-up's or the mapping's
// own: EINVAL where flags are unknown, ENOSYS or EPERM where there is none or it is
// forbidden, ENOMEM or EMFILE where resources are short; or an *UnsupportedError where the
// kernel is too old.
func OpenUring(entries, flags, idleMilliseconds uint32) (*Uring, error) {
	p := uringParams{flags: flags, threadIdle: idleMilliseconds}
	// Safety: p is alive during the call, and laid out as the kernel has it (see above).
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries),
		uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, errno
	}
	u := &Uring{fd: int(fd), Flags: p.flags}
	if p.features&UringFeatures != UringFeatures {
		u.Close()
		return nil, &UnsupportedError{Feature: "io_uring", MinKernel: "Linux 5.12",
			Err: fmt.Errorf("it has features %#x", p.features)}
	}
	if err := u.mapRings(&p); err != nil {
		u.Close()
		return nil, err
	}
	return u, nil
}

func (u *Uring) mapRings(p *uringParams) error {
	ringBytes := max(int(p.sq.array+p.sqEntries*4),
		int(p.cq.results)+int(p.cqEntries)*int(unsafe.Sizeof(UringResult{})))
	var err error
	if u.rings, err = u.mapMemory(uringOffsetRings, ringBytes); err != nil {
		return err
	}
	entryBytes := int(p.sqEntries) * int(unsafe.Sizeof(UringEntry{}))
	if u.entries, err = u.mapMemory(uringOffsetEntries, entryBytes); err != nil {
		return err
	}
	// Safety: the kernel tells aligned offsets within mappings of the sizes that it told;
	// indexing checks the latter. The mappings live until Close, which takes these away.
	word := func(offset uint32) *atomic.Uint32 {
		return (*atomic.Uint32)(unsafe.Pointer(&u.rings[offset : offset+4][0]))
	}
	u.SQHead, u.SQTail, u.SQFlags = word(p.sq.head), word(p.sq.tail), word(p.sq.flags)
	u.CQHead, u.CQTail, u.CQOverflow = word(p.cq.head), word(p.cq.tail), word(p.cq.overflow)
	// Safety: as above; ringBytes and entryBytes are what the slices take.
	u.Entries = unsafe.Slice((*UringEntry)(unsafe.Pointer(&u.entries[0])), p.sqEntries)
	u.Results = unsafe.Slice((*UringResult)(unsafe.Pointer(&u.rings[p.cq.results])), p.cqEntries)
	for i := range p.sqEntries { // entry i is submitted from place i, for ever
		word(p.sq.array + i*4).Store(i)
	}
	return nil
}

func (u *Uring) mapMemory(offset int64, size int) ([]byte, error) {
	return unix.Mmap(u.fd, offset, size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_POPULATE)
}

// Enter submits, with UringEnterWake or no flags, and waits for nothing but the work itself.
// It answers how many submissions were consumed; EINTR where a signal came before any was.
// It is a raw call, because a thread that the scheduler sees in a long system call loses its
// P and has to queue for another: the caller bounds what it submits at once.
//
//go:noinline
func (u *Uring) Enter(submit, flags uint32) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(u.fd), uintptr(submit),
		0, uintptr(flags), 0, 0)
	return result(n, errno)
}

// Wait waits until there are results, unread or new, of at least complete submissions.
// EINTR where a signal came first.
func (u *Uring) Wait(complete uint32) error {
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(u.fd), 0,
		uintptr(complete), uringEnterWait, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// RegisterFiles makes a files table; -1 is an empty slot. EMFILE where it is larger than
// RLIMIT_NOFILE.
func (u *Uring) RegisterFiles(fds []int32) error {
	// Safety: fds is alive during the call, which is this function's last.
	return u.register(uringRegisterFiles, unsafe.Pointer(unsafe.SliceData(fds)), len(fds))
}

// UnregisterFiles drops the files table, and the kernel's hold on its files.
func (u *Uring) UnregisterFiles() error { return u.register(uringUnregisterFiles, nil, 0) }

// UpdateFile puts fd, or -1, into a slot of the files table. The kernel holds the file, even
// where fd is closed, until the slot changes.
func (u *Uring) UpdateFile(slot uint32, fd int32) error {
	u.value = fd
	update := struct {
		offset, reserved uint32
		fds              uint64
		// Safety: u is on the heap, since OpenUring answered it, and alive until the kernel,
		// which has an address within it, has read it.
	}{offset: slot, fds: uint64(uintptr(unsafe.Pointer(&u.value)))}
	err := u.register(uringRegisterFilesUpdate, unsafe.Pointer(&update), 1)
	runtime.KeepAlive(u)
	return err
}

func (u *Uring) register(operation uintptr, argument unsafe.Pointer, n int) error {
	// Safety: argument is alive during the call, since it is this function's own.
	_, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(u.fd), operation,
		uintptr(argument), uintptr(n), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Close gives the memory and the descriptor back. Nothing of u may be used after it.
func (u *Uring) Close() error {
	if u.rings != nil {
		unix.Munmap(u.rings)
	}
	if u.entries != nil {
		unix.Munmap(u.entries)
	}
	err := unix.Close(u.fd)
	*u = Uring{fd: -1}
	return err
}
