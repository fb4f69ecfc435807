package netio

import (
	"github.com/fantail-io/fantail/netio/uring"
	"github.com/fantail-io/fantail/netio/writev"
)

// auto sends many small pieces with one submission to io_uring, which saves most of what a
// system call costs, and large ones with a call each, which overlaps with the readers' work
// (design note 0002).
type auto struct {
	calls  *writev.Sender
	batch  *uring.Sender
	queued []queued
	bytes  int
}

type queued struct {
	slot  int
	views [][]byte
}

const (
	// batchMin is the number of connections from which a submission pays.
	batchMin = 3
	// batchBytes is the average piece from which a call each is as cheap.
	batchBytes = 16 << 10
)

// newAuto falls back to calls where io_uring is not to be had.
func newAuto() Sender {
	batch, err := uring.NewSender(uring.Config{})
	if err != nil {
		return writev.New()
	}
	return &auto{calls: writev.New(), batch: batch}
}

// Open tells both.
func (a *auto) Open(slot, fd int) error {
	if err := a.batch.Open(slot, fd); err != nil {
		return err
	}
	return a.calls.Open(slot, fd)
}

// Close tells both.
func (a *auto) Close(slot int) {
	a.batch.Close(slot)
	a.calls.Close(slot)
}

// Queue keeps the views until Flush has chosen.
func (a *auto) Queue(slot int, views [][]byte) {
	a.queued = append(a.queued, queued{slot, views})
	for _, v := range views {
		a.bytes += len(v)
	}
}

// Flush chooses by how much there is for each connection.
func (a *auto) Flush(done func(slot int, n int, err error)) (syscalls int) {
	var s Sender = a.calls
	if n := len(a.queued); n >= batchMin && a.bytes < n*batchBytes {
		s = a.batch
	}
	for i := range a.queued {
		s.Queue(a.queued[i].slot, a.queued[i].views)
	}
	clear(a.queued)
	a.queued, a.bytes = a.queued[:0], 0
	return s.Flush(done)
}

// Name says what both are.
func (a *auto) Name() string { return "uring+writev" }

// Release gives the ring back.
func (a *auto) Release() error { return a.batch.Release() }
