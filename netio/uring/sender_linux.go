package uring

import (
	"syscall"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// Sender is a Ring as a shard uses it: it implements netio.Sender. It belongs to the thread
// that made it.
type Sender struct {
	ring     *Ring
	conns    []conn // by slot
	queued   []int  // slots
	done     func(slot int, n int, err error)
	onResult func(userData uint64, result int32) // s.result, made once
	calls    int

	fallbacks uint64
	broken    error // why the ring is not used any more
}

// batchMin is the number of sends from which one submission costs less than a system call
// each: an enter was seen to cost what is saved on two of them (design note 0002).
const batchMin = 3

type conn struct {
	fd       int
	queued   bool
	prepared bool    // in the ring
	view     []byte  // where there is one
	pieces   []Iovec // where there are more; reused
}

// NewSender makes a Sender for the calling thread: see New, whose errors it answers.
func NewSender(c Config) (*Sender, error) {
	r, err := New(c)
	if err != nil {
		return nil, err
	}
	s := &Sender{ring: r}
	s.onResult = s.result
	return s, nil
}

// Name is "uring".
func (s *Sender) Name() string { return "uring" }

// Open notes a socket, which stays the caller's, and open until Close.
func (s *Sender) Open(slot, fd int) error {
	if err := s.ring.RegisterFile(slot, fd); err != nil {
		return err
	}
	for slot >= len(s.conns) {
		s.conns = append(s.conns, conn{fd: -1})
	}
	s.conns[slot].fd = fd
	return nil
}

// Close forgets a socket, before the caller closes it. What was queued for it is not sent.
// It may be called from within Flush's done.
func (s *Sender) Close(slot int) {
	if slot >= len(s.conns) {
		return
	}
	c := &s.conns[slot]
	c.fd, c.queued, c.prepared, c.view = -1, false, false, nil
	_ = s.ring.Unregister(slot) // only a table of files can fail, for memory
}

// Queue notes up to MaxPieces views for the next Flush, which must not change before. Once
// a Flush.
func (s *Sender) Queue(slot int, views [][]byte) {
	c := &s.conns[slot]
	c.queued = true
	s.queued = append(s.queued, slot)
	if len(views) == 1 {
		c.view = views[0]
		c.pieces = c.pieces[:0]
		return
	}
	c.pieces = c.pieces[:0]
	for _, v := range views {
		c.pieces = append(c.pieces, Iovec{})
		c.pieces[len(c.pieces)-1].Set(v)
	}
}

// Flush submits what was queued and tells for each connection how many bytes the kernel
// took; fewer than were queued, with a nil error, is back pressure. It answers the number
// of system calls: see Ring.SubmitAndReap.
func (s *Sender) Flush(done func(slot int, n int, err error)) (calls int) {
	s.done, s.calls = done, 0
	for _, slot := range s.queued {
		c := &s.conns[slot]
		switch {
		case !c.queued: // closed meanwhile
		case len(s.queued) < batchMin || s.broken != nil:
			s.send(slot)
		default:
			s.prepare(slot)
		}
	}
	s.submit()
	s.queued, s.done = s.queued[:0], nil
	return s.calls
}

// Fallbacks is the number of sends that were made without the ring because it failed.
func (s *Sender) Fallbacks() uint64 { return s.fallbacks }

// Release closes the ring. It is idempotent.
func (s *Sender) Release() error { return s.ring.Close() }

func (s *Sender) prepare(slot int) {
	err := s.prep(slot)
	if err == ErrFull {
		s.submit()
		err = s.prep(slot)
	}
	if err != nil {
		s.finish(slot, 0, err)
	}
}

func (s *Sender) prep(slot int) error {
	c := &s.conns[slot]
	c.prepared = true
	if len(c.pieces) > 0 {
		return s.ring.PrepSendmsg(slot, c.pieces, uint64(slot))
	}
	return s.ring.PrepSend(slot, c.view, uint64(slot))
}

func (s *Sender) submit() {
	calls, err := s.ring.SubmitAndReap(s.onResult)
	s.calls += calls
	if err == nil || s.ring.flying == 0 {
		return
	}
	// The kernel does not tell what became of some sends: their connections are lost, and
	// the ring is not used again.
	s.broken = err
	for slot := range s.conns {
		if c := &s.conns[slot]; c.queued && c.prepared {
			s.finish(slot, 0, err)
		}
	}
}

// result takes one result of the ring.
func (s *Sender) result(userData uint64, result int32) {
	slot := int(userData)
	switch {
	case !s.conns[slot].queued: // closed meanwhile
	case result >= 0:
		s.finish(slot, int(result), nil)
	case result == -int32(syscall.ECANCELED): // not submitted
		s.fallbacks++
		s.send(slot)
	default:
		s.finish(slot, 0, syscall.Errno(-result))
	}
}

// send does without the ring.
func (s *Sender) send(slot int) {
	c := &s.conns[slot]
	n, err := 0, error(syscall.EINTR)
	for err == syscall.EINTR {
		s.calls++
		if len(c.pieces) > 0 {
			n, err = sys.Sendmsg(c.fd, c.pieces, 0)
		} else {
			n, err = sys.Send(c.fd, c.view, 0)
		}
	}
	s.finish(slot, n, err)
}

func (s *Sender) finish(slot, n int, err error) {
	c := &s.conns[slot]
	c.queued, c.prepared, c.view = false, false, nil
	if err == syscall.EAGAIN {
		err = nil
	}
	s.done(slot, n, err)
}
