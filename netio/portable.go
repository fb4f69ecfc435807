package netio

import (
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/ring"
)

// portable is the transport on package net: two goroutines a connection, which move bytes
// between the socket and buffers that the shard reads and writes without waiting.
type portable struct {
	bell  chan struct{}
	mu    sync.Mutex
	ready []*Conn // whose socket or buffer changed
	seen  []*Conn // scratch
	queue []*Conn // what Flush submits
	conns map[int]*Conn
	calls atomic.Uint64
	timer *time.Timer // of wait
}

// portableBuffer bounds each direction of a connection, in bytes.
const portableBuffer = 256 << 10

type portableConn struct {
	nc     net.Conn
	mu     sync.Mutex
	out    []byte // accepted, and not yet taken by the writer
	in     []byte // read, and not yet taken by the shard
	err    error  // that ended the reader or the writer
	closed bool
	room   sync.Cond // signalled when out or in changed, or closed
	views  [][]byte  // queued for Flush
}

func newPortableConn(nc net.Conn) *portableConn {
	c := &portableConn{nc: nc}
	c.room.L = &c.mu
	return c
}

func newPortable() *portable {
	return &portable{bell: make(chan struct{}, 1), conns: make(map[int]*Conn),
		timer: time.NewTimer(time.Hour)}
}

func (p *portable) add(c *Conn) error {
	p.conns[c.slot] = c
	c.ending = true // there may be more, or the end, behind what one read answers
	go p.read1(c, c.io.portable)
	go p.write1(c, c.io.portable)
	return nil
}

// remove leaves the closing to the writer, which sends what it has accepted first: the last
// words of a session are there.
func (p *portable) remove(c *Conn) {
	delete(p.conns, c.slot)
	pc := c.io.portable
	now := time.Now()
	_ = pc.nc.SetReadDeadline(now)
	_ = pc.nc.SetWriteDeadline(now.Add(finishTimeout))
	pc.mu.Lock()
	pc.closed = true
	pc.room.Broadcast()
	pc.mu.Unlock()
}

// changed tells the shard to look at c.
func (p *portable) changed(c *Conn) {
	p.mu.Lock()
	p.ready = append(p.ready, c)
	p.mu.Unlock()
	p.wake()
}

// read1 fills pc.in.
func (p *portable) read1(c *Conn, pc *portableConn) {
	b := make([]byte, 64<<10)
	for {
		n, err := pc.nc.Read(b)
		p.calls.Add(1)
		pc.mu.Lock()
		for len(pc.in)+n > portableBuffer && !pc.closed {
			pc.room.Wait()
		}
		pc.in = append(pc.in, b[:n]...)
		if err != nil && pc.err == nil {
			pc.err = err
		}
		closed := pc.closed
		pc.mu.Unlock()
		p.changed(c)
		if err != nil || closed {
			return
		}
	}
}

// write1 empties pc.out, and closes the connection in the end.
func (p *portable) write1(c *Conn, pc *portableConn) {
	defer pc.nc.Close()
	var b []byte
	for {
		pc.mu.Lock()
		for len(pc.out) == 0 && !pc.closed {
			pc.room.Wait()
		}
		if len(pc.out) == 0 {
			pc.mu.Unlock()
			return
		}
		b, pc.out = pc.out, b[:0]
		pc.mu.Unlock()
		p.changed(c)
		_, err := pc.nc.Write(b)
		p.calls.Add(1)
		if err != nil {
			pc.mu.Lock()
			pc.err = err
			pc.mu.Unlock()
			p.changed(c)
			return
		}
	}
}

func (p *portable) wait(timeout time.Duration) (events int) {
	if timeout != 0 {
		var after <-chan time.Time
		if timeout > 0 {
			p.timer.Reset(timeout)
			defer p.timer.Stop()
			after = p.timer.C
		}
		select {
		case <-p.bell:
		case <-after:
		}
	}
	p.mu.Lock()
	p.seen, p.ready = p.ready, p.seen[:0]
	p.mu.Unlock()
	for _, c := range p.seen {
		c.shard.canRead(c)
		c.writable = true
	}
	events = len(p.seen)
	clear(p.seen) // it must not keep those that are gone
	return events
}

func (p *portable) wake() {
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

func (p *portable) read(c *Conn, b []byte) (int, error) {
	pc := c.io.portable
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if len(pc.in) > 0 {
		n := copy(b, pc.in)
		pc.in = pc.in[:copy(pc.in, pc.in[n:])]
		pc.room.Broadcast()
		return n, nil
	}
	if pc.err == io.EOF {
		return 0, ErrPeerClosed
	}
	if pc.err != nil {
		return 0, pc.err
	}
	return 0, errAgain
}

func (p *portable) sender() Sender   { return p }
func (p *portable) syscalls() uint64 { return 0 }
func (p *portable) close()           {}

func (p *portable) pin(int) error {
	return fmt.Errorf("%w: pinning a shard needs Linux and epoll", ring.ErrNotSupported)
}

// Open, and the rest of Sender.
func (p *portable) Open(int, int) error { return nil }
func (p *portable) Close(int)           {}
func (p *portable) Name() string        { return "portable" }
func (p *portable) Release() error      { return nil }

func (p *portable) Queue(slot int, views [][]byte) {
	c := p.conns[slot]
	c.io.portable.views = views
	p.queue = append(p.queue, c)
}

// Flush copies into the writers' buffers; the system calls are theirs.
func (p *portable) Flush(done func(slot int, n int, err error)) (syscalls int) {
	for _, c := range p.queue {
		pc := c.io.portable
		n := 0
		pc.mu.Lock()
		for _, v := range pc.views {
			take := min(len(v), portableBuffer-len(pc.out))
			pc.out = append(pc.out, v[:take]...)
			n += take
		}
		err := pc.err
		pc.room.Broadcast()
		pc.mu.Unlock()
		if err == io.EOF {
			err = ErrPeerClosed
		}
		done(c.slot, n, err)
	}
	clear(p.queue)
	p.queue = p.queue[:0]
	return int(p.calls.Swap(0))
}
