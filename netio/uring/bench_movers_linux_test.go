package uring

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// mover is one way into the kernel.
type mover interface {
	// queue notes a send to a connection of size bytes at an offset of the arena.
	queue(slot, offset, size int)
	// flush sends what is queued; it answers the sends that are still under way, of which
	// it waits for one, where there is nothing else to do.
	flush(done func(slot, n int, err error)) (flying int)
	systemCalls() uint64
	release()
}

var moverNames = []string{"send", "sendmsg", "uring", "uring-table", "uring-sqpoll", "sendfile", "splice",
	"splice-lend", "sendfile-lend", "zerocopy"}

func newMover(b *testing.B, by string, fds []int, arena *arena) mover {
	b.Helper()
	switch by {
	case "sendmsg":
		iov := make([]Iovec, 1)
		return &each{fds: fds, call: func(slot, offset, size int) (int, error) {
			iov[0].Set(arena.bytes[offset : offset+size])
			return sys.Sendmsg(fds[slot], iov, 0)
		}}
	case "send":
		return &each{fds: fds, call: func(slot, offset, size int) (int, error) {
			return sys.Send(fds[slot], arena.bytes[offset:offset+size], 0)
		}}
	case "sendfile", "sendfile-lend":
		return &each{fds: fds, call: func(slot, offset, size int) (int, error) {
			at := int64(offset)
			return unix.Sendfile(fds[slot], arena.fd, &at, size)
		}}
	case "splice", "splice-lend":
		return newSplice(b, fds, arena)
	case "zerocopy":
		return newZeroCopy(b, fds, arena)
	}
	c := Config{SQPoll: by == "uring-sqpoll"}
	if by == "uring-table" {
		c.Files = len(fds)
	}
	r, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	for slot, fd := range fds {
		if err := r.RegisterFile(slot, fd); err != nil {
			b.Fatal(err)
		}
	}
	u := &uringMover{b: b, r: r, arena: arena.bytes, slots: len(fds)}
	u.onResult = u.result
	return u
}

// each makes a call for each connection.
type each struct {
	fds    []int
	call   func(slot, offset, size int) (int, error)
	queued []struct{ slot, offset, size int }
	calls  uint64
}

func (e *each) queue(slot, offset, size int) {
	e.queued = append(e.queued, struct{ slot, offset, size int }{slot, offset, size})
}

func (e *each) flush(done func(slot, n int, err error)) int {
	for _, q := range e.queued {
		e.calls++
		n, err := e.call(q.slot, q.offset, q.size)
		if err == syscall.EAGAIN {
			n, err = 0, nil
		}
		done(q.slot, n, err)
	}
	e.queued = e.queued[:0]
	return 0
}

func (e *each) systemCalls() uint64 { return e.calls }
func (e *each) release()            {}

// uringMover is a Ring; with SQPoll it goes on while the kernel's thread is at work.
type uringMover struct {
	b        *testing.B
	r        *Ring
	arena    []byte
	slots    int
	done     func(slot, n int, err error)
	onResult func(userData uint64, result int32)
}

func (u *uringMover) queue(slot, offset, size int) {
	if err := u.r.PrepSend(slot, u.arena[offset:offset+size], uint64(slot)); err != nil {
		u.b.Fatal(err)
	}
}

func (u *uringMover) result(userData uint64, result int32) {
	switch {
	case result >= 0:
		u.done(int(userData), int(result), nil)
	case result == -int32(syscall.EAGAIN):
		u.done(int(userData), 0, nil)
	default:
		u.done(int(userData), 0, syscall.Errno(-result))
	}
}

func (u *uringMover) flush(done func(slot, n int, err error)) int {
	u.done = done
	if !u.r.config.SQPoll {
		if _, err := u.r.SubmitAndReap(u.onResult); err != nil {
			u.b.Fatal(err)
		}
		return 0
	}
	if err := u.r.submit(); err != nil {
		u.b.Fatal(err)
	}
	for u.r.reap(u.onResult) == 0 && u.r.flying == u.slots {
		u.r.calls++
		if err := u.r.kernel.Wait(1); err != nil && err != syscall.EINTR {
			u.b.Fatal(err)
		}
	}
	return u.r.flying
}

func (u *uringMover) systemCalls() uint64 { return u.r.Calls() }
func (u *uringMover) release()            { u.r.Close() }

// newSplice lends the arena's pages to a pipe for each connection, and the connection the
// pipe's: two calls a send.
func newSplice(b *testing.B, fds []int, arena *arena) mover {
	type pipe struct {
		in, out, held int
	}
	pipes := make([]pipe, len(fds))
	for i := range pipes {
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { unix.Close(p[0]); unix.Close(p[1]) })
		if _, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETPIPE_SZ, 256<<10); err != nil {
			b.Fatal(err)
		}
		pipes[i] = pipe{in: p[1], out: p[0]}
	}
	iov := make([]unix.Iovec, 1)
	e := &each{fds: fds}
	e.call = func(slot, offset, size int) (int, error) {
		p := &pipes[slot]
		if p.held == 0 {
			iov[0].Base = &arena.bytes[offset]
			iov[0].SetLen(size)
			e.calls++
			n, err := unix.Vmsplice(p.in, iov, unix.SPLICE_F_NONBLOCK)
			if err != nil {
				return 0, err
			}
			p.held = n
		}
		n, err := unix.Splice(p.out, nil, fds[slot], nil, size, unix.SPLICE_F_NONBLOCK)
		p.held -= int(max(n, 0))
		return int(max(n, 0)), err
	}
	return e
}

// newZeroCopy asks the kernel to send from the arena itself, and reads its notices.
func newZeroCopy(b *testing.B, fds []int, arena *arena) mover {
	for _, fd := range fds {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1); err != nil {
			b.Fatal(err)
		}
	}
	control := make([]byte, 128)
	sends := make([]int, len(fds))
	e := &each{fds: fds}
	e.call = func(slot, offset, size int) (int, error) {
		if sends[slot]++; sends[slot]%16 == 0 {
			e.calls++ // one notice speaks of all sends since the last
			_, _, _, _, _ = unix.Recvmsg(fds[slot], nil, control, unix.MSG_ERRQUEUE)
		}
		return sys.Send(fds[slot], arena.bytes[offset:offset+size], unix.MSG_ZEROCOPY)
	}
	return e
}
