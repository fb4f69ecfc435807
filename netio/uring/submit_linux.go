package uring

import (
	"fmt"
	"syscall"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// PrepSend prepares a send of b to the socket in slot. Its result, with userData, is the
// bytes that were taken, or a negative errno: -EAGAIN where the socket is full, -EPIPE or
// -ECONNRESET where the peer is gone. Of b over 1 GiB only that much is offered. It answers
// ErrFull or ErrSlot, and then nothing is prepared.
func (r *Ring) PrepSend(slot int, b []byte, userData uint64) error {
	entry, n, err := r.claim(slot)
	if err != nil {
		return err
	}
	o := &r.ops[n]
	o.userData, o.bytes = userData, b
	file, fixed := r.target(slot)
	entry.SetSend(file, fixed, b, uint64(n))
	r.weigh(len(b))
	return nil
}

// PrepSendmsg is PrepSend of up to MaxPieces pieces. The array is the kernel's too, until
// the result.
func (r *Ring) PrepSendmsg(slot int, pieces []Iovec, userData uint64) error {
	entry, n, err := r.claim(slot)
	if err != nil {
		return err
	}
	o := &r.ops[n]
	o.userData = userData
	file, fixed := r.target(slot)
	entry.SetSendmsg(file, fixed, &o.message, pieces, uint64(n))
	size := 0
	for i := range pieces {
		size += pieces[i].Len()
	}
	r.weigh(size)
	return nil
}

// claim takes an entry and an op for a send to slot.
func (r *Ring) claim(slot int) (*sys.UringEntry, uint32, error) {
	switch {
	case r.kernel == nil:
		return nil, 0, ErrClosed
	case uint(slot) >= uint(len(r.files)) || r.files[slot].fd < 0:
		return nil, 0, ErrSlot
	case len(r.free) == 0:
		return nil, 0, ErrFull
	}
	entries := r.kernel.Entries
	if r.tail-r.head == uint32(len(entries)) {
		r.head = r.kernel.SQHead.Load() // pairs(sqHead): entries below it are ours again
		if r.tail-r.head == uint32(len(entries)) {
			return nil, 0, ErrFull
		}
	}
	n := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	entry := &entries[r.tail&uint32(len(entries)-1)]
	r.tail++
	return entry, n, nil
}

// weigh counts a send of size bytes that was just prepared, and ends the submission there
// if the kernel will be busy for long enough.
func (r *Ring) weigh(size int) {
	r.weight += sendWeight + size
	if r.weight >= enterWeight {
		r.cuts = append(r.cuts, r.tail)
		r.weight = 0
	}
}

// target is the file in slot as an entry names it.
func (r *Ring) target(slot int) (file int32, fixed bool) {
	f := &r.files[slot]
	if f.fixed {
		return int32(slot), true
	}
	return f.fd, false
}

// SubmitAndReap submits what was prepared, in one system call for about 32 small sends or
// 512 KiB, and calls fn once for each, in no particular order; of the Ring's methods fn may
// call Unregister only. Afterwards the kernel holds none of the buffers. It answers the
// number of system calls.
//
// Where the kernel does not take a submission, short of memory or called from another
// thread (EEXIST), the sends that it did not take have the result -ECANCELED, are not sent,
// and err says why.
func (r *Ring) SubmitAndReap(fn func(userData uint64, result int32)) (calls int, err error) {
	if r.kernel == nil {
		return 0, ErrClosed
	}
	before := r.calls
	err = r.submit()
	r.cuts, r.weight = r.cuts[:0], 0
	if err != nil {
		r.withdraw(fn)
	}
	for r.flying > 0 {
		if r.reap(fn) > 0 {
			continue
		}
		// No send that may not wait gets here, but by way of SQPoll or of deferred work.
		r.calls++
		werr := r.kernel.Wait(uint32(r.flying))
		if werr != nil && werr != syscall.EINTR { // the runtime's preemption is a signal
			err = fmt.Errorf("uring: wait for %d results: %w", r.flying, werr)
			break
		}
	}
	return int(r.calls - before), err
}

// submit gives what was prepared to the kernel.
func (r *Ring) submit() error {
	if r.told == r.tail {
		return nil
	}
	// pairs(sqTail): publishes the entries. A kernel thread that is about to sleep sets its
	// flag and then reads the tail; we store the tail, and then read the flag.
	r.kernel.SQTail.Store(r.tail)
	if r.config.SQPoll {
		n := r.tail - r.told
		r.told = r.tail
		r.flying += int(n)
		if r.kernel.SQFlags.Load()&sys.UringNeedWake == 0 {
			return nil
		}
		return r.enter(n, sys.UringEnterWake)
	}
	for _, cut := range append(r.cuts, r.tail) {
		for r.told != cut {
			if err := r.enter(cut-r.told, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter submits up to n entries, and at least one.
func (r *Ring) enter(n, flags uint32) error {
	for {
		r.calls++
		taken, err := r.kernel.Enter(n, flags)
		switch {
		case err == syscall.EINTR:
			continue
		case err == nil && taken == 0 && !r.config.SQPoll:
			err = syscall.EAGAIN // it has always said so itself
		}
		if err != nil {
			return fmt.Errorf("uring: submit %d sends: %w", n, err)
		}
		if !r.config.SQPoll {
			r.told += uint32(taken)
			r.flying += taken
		}
		return nil
	}
}

// withdraw takes back what the kernel did not take. A kernel thread may still take it.
func (r *Ring) withdraw(fn func(userData uint64, result int32)) {
	if r.config.SQPoll {
		return
	}
	from, to := r.told, r.tail
	r.tail = from
	r.kernel.SQTail.Store(from) // the kernel reads it in enter only
	for ; from != to; from++ {
		entry := &r.kernel.Entries[from&uint32(len(r.kernel.Entries)-1)]
		fn(r.release(entry.UserData()), -int32(syscall.ECANCELED))
	}
}

// reap calls fn for each result that is there.
func (r *Ring) reap(fn func(userData uint64, result int32)) int {
	results := r.kernel.Results
	head := r.kernel.CQHead.Load() // our own word
	tail := r.kernel.CQTail.Load() // pairs(cqTail): results below it are written
	for at := head; at != tail; at++ {
		result := &results[at&uint32(len(results)-1)]
		value := result.Result
		r.flying--
		fn(r.release(result.UserData), value)
	}
	if head != tail {
		r.kernel.CQHead.Store(tail) // pairs(cqHead): the kernel may write there again
	}
	return int(tail - head)
}

// release ends an op and answers its user's data.
func (r *Ring) release(n uint64) uint64 {
	o := &r.ops[n]
	o.bytes = nil
	r.free = append(r.free, uint32(n))
	return o.userData
}

// Close gives the ring and the kernel's hold on files back. It is idempotent; what was
// prepared and not submitted is not sent, and has no result.
func (r *Ring) Close() error {
	if r.kernel == nil {
		return nil
	}
	if r.config.Files > 0 {
		// At once, where closing the ring leaves it to a worker of the kernel.
		_ = r.kernel.UnregisterFiles() // from another thread: left to that worker
	}
	err := r.kernel.Close()
	r.kernel = nil
	return err
}
