package uring

import (
	"fmt"
	"syscall"
	"time"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// Ring is an io_uring for sends. It belongs to the thread that made it.
type Ring struct {
	kernel *sys.Uring
	config Config
	tail   uint32   // of the submission ring; the kernel learns it in submit
	told   uint32   // tail as the kernel knows it
	head   uint32   // of the submission ring, as last read; stale is safe, it only reads low
	flying int      // submitted, and without a result
	weight int      // of what was prepared since the last cut
	cuts   []uint32 // tails at which a submission ends

	ops   []op     // what is prepared or flying
	free  []uint32 // of ops; the newest is still in the cache
	files []file   // by slot
	calls uint64
}

// op is a send from its preparation to its result. An entry's user data is its number.
type op struct {
	userData uint64
	message  sys.UringMessage
	bytes    []byte // the kernel has the address only; this keeps it alive, and off stacks
}

type file struct {
	fd    int32 // -1: none
	fixed bool  // in the kernel's table
}

// setups are the flags that New tries, the best first.
var setups = []uint32{
	sys.UringSingleIssuer | sys.UringDeferTaskrun | sys.UringSubmitAll,
	sys.UringCoopTaskrun | sys.UringSubmitAll,
	0,
}

var setupsSQPoll = []uint32{
	sys.UringSQPoll | sys.UringSingleIssuer | sys.UringSubmitAll,
	sys.UringSQPoll,
}

// New makes a Ring for the calling thread, to which the caller's goroutine must be locked
// until Close. It answers an *UnsupportedError where there is no io_uring, and the system's
// error where resources are short.
func New(c Config) (*Ring, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Ring{config: c}
	if r.kernel, err = open(c); err != nil {
		return nil, err
	}
	n := len(r.kernel.Entries)
	r.ops = make([]op, n)
	r.cuts = make([]uint32, 0, n+1)
	r.free = make([]uint32, n)
	for i := range r.free {
		r.free[i] = uint32(n - 1 - i)
	}
	r.registerTable()
	return r, nil
}

func open(c Config) (*sys.Uring, error) {
	tries := setups
	if c.SQPoll {
		tries = setupsSQPoll
	}
	var err error
	for _, flags := range tries {
		var kernel *sys.Uring
		kernel, err = sys.OpenUring(uint32(c.Entries), flags, uint32(c.SQIdle/time.Millisecond))
		if err == nil {
			return kernel, nil
		}
		if err != syscall.EINVAL {
			break
		}
	}
	switch err {
	case syscall.ENOSYS, syscall.EPERM, syscall.EACCES, syscall.EINVAL:
		return nil, &UnsupportedError{Feature: "io_uring", MinKernel: minKernel, Err: err}
	}
	return nil, fmt.Errorf("uring: set up %d entries: %w", c.Entries, err)
}

// registerTable makes the table of files, as large as the system lets it be. Without one
// slots are descriptors.
func (r *Ring) registerTable() {
	for n := r.config.Files; n > 0; n /= 2 {
		empty := make([]int32, n)
		for i := range empty {
			empty[i] = -1
		}
		err := r.kernel.RegisterFiles(empty)
		if err == nil {
			r.config.Files = n
			return
		}
		if err != syscall.EMFILE && err != syscall.ENOMEM {
			break
		}
	}
	r.config.Files = 0
}

// Entries is how many sends can be prepared before a submission.
func (r *Ring) Entries() int { return len(r.ops) }

// Files is the size of the kernel's table of files; 0 where there is none.
func (r *Ring) Files() int { return r.config.Files }

// Calls is the number of system calls that submissions took so far.
func (r *Ring) Calls() uint64 { return r.calls }

// RegisterFile puts the socket fd, which stays the caller's, into slot: 0 to MaxSlot. It
// takes the place of what was there.
func (r *Ring) RegisterFile(slot, fd int) error {
	switch {
	case r.kernel == nil:
		return ErrClosed
	case slot < 0 || slot > MaxSlot:
		return ErrSlot
	case fd < 0:
		return syscall.EBADF
	}
	for slot >= len(r.files) {
		r.files = append(r.files, file{fd: -1})
	}
	f := file{fd: int32(fd)}
	if slot < r.config.Files {
		if err := r.kernel.UpdateFile(uint32(slot), f.fd); err != nil {
			return fmt.Errorf("uring: register descriptor %d: %w", fd, err)
		}
		f.fixed = true
	}
	r.files[slot] = f
	return nil
}

// Unregister takes the file off a slot: before the descriptor is closed, and with no send to
// it prepared. A slot without a file is left as it is.
func (r *Ring) Unregister(slot int) error {
	if r.kernel == nil {
		return ErrClosed
	}
	if slot < 0 || slot >= len(r.files) || r.files[slot].fd < 0 {
		return nil
	}
	fixed := r.files[slot].fixed
	r.files[slot] = file{fd: -1}
	if fixed {
		if err := r.kernel.UpdateFile(uint32(slot), -1); err != nil {
			return fmt.Errorf("uring: unregister slot %d: %w", slot, err)
		}
	}
	return nil
}
