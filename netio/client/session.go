package client

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring/frame"
)

var (
	// errAgain says that nothing can be read now, or that a barrier must be tried again.
	errAgain = errors.New("client: again")
	// errGoodbye ends the sender of a client that is closing and has sent everything.
	errGoodbye = errors.New("client: closing")
)

// run serves one connection after another. It is the sender goroutine.
func (c *Client) run(l *link) {
	for {
		cause := c.serve(l)
		c.mu.Lock()
		c.mu.link = nil
		closing := c.mu.closing
		if cause != nil {
			c.mu.out.broken(cause)
		} else {
			c.mu.out.echo(c.mu.out.token) // the server took everything, and the goodbye
			c.mu.out.confirmed = c.mu.out.accepted
		}
		c.mu.Unlock()
		if closing {
			c.fail(ErrClosed, cause)
			return
		}
		var err error
		if l, err = c.dialer.again(c.ctx, cause); err != nil {
			c.fail(err, cause)
			return
		}
		c.reconnects.Add(1)
		if !c.connected(l) {
			l.rest()
			l.conn.Close()
			c.fail(ErrClosed, cause)
			return
		}
	}
}

// fail ends the client: what has not been sent is lost.
func (c *Client) fail(err, cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := &c.mu.out
	if cause != nil && o.accepted > o.confirmed {
		o.lost += o.accepted - o.confirmed
		o.confirmed, o.cause = o.accepted, cause
	}
	c.mu.err = err
	o.fail(err)
	close(c.ended)
}

// serving is one connection's sender and reader.
type serving struct {
	client *Client
	*link
	lingerUntil atomic.Int64 // nanoseconds since the epoch; 0: not ending
}

// serve sends and reads until the connection ends, and answers why; nil after a goodbye
// that the server has taken.
func (c *Client) serve(l *link) error {
	stop := context.AfterFunc(c.ctx, func() { l.conn.Close() })
	defer stop()
	defer l.conn.Close()
	s := &serving{client: c, link: l}
	read := make(chan error, 1)
	readFirst := false
	go func() {
		err := s.read()
		readFirst = s.lingerUntil.Load() == 0
		c.mu.Lock()
		c.mu.readEnd = true
		c.signalLocked()
		c.mu.Unlock()
		_ = l.conn.SetWriteDeadline(past)
		read <- err
	}()
	sent := s.send()
	// The peer may have said why it ends, or has to take what was sent last: a close with
	// unread bytes would throw both away.
	if sent == errGoodbye || !c.isClosing() {
		s.linger()
	} else {
		l.conn.Close()
	}
	why := <-read
	if sent == errGoodbye && why == io.EOF {
		return nil
	}
	var said *native.Error
	if readFirst || sent == errGoodbye || errors.As(why, &said) {
		return &ConnectionError{Address: c.address, Op: "read", Err: why}
	}
	return &ConnectionError{Address: c.address, Op: "write", Err: sent}
}

func (c *Client) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.closing
}

// linger gives the reader a last deadline.
func (s *serving) linger() {
	until := time.Now().Add(lingerTimeout)
	s.lingerUntil.Store(until.UnixNano())
	_ = s.conn.SetReadDeadline(until)
}

// send writes batches until the reader ends (nil), writing fails, or the client closes.
func (s *serving) send() error {
	c := s.client
	c.mu.Lock()
	first := c.mu.out.preamble(nil)
	c.mu.Unlock()
	if len(first) > 0 {
		if _, err := s.conn.Write(first); err != nil {
			return err
		}
	}
	for {
		flight, err := c.takeBatch()
		if err != nil {
			return s.goodbye(err)
		}
		if flight == nil {
			return nil
		}
		c.batches.Add(1)
		_, err = s.conn.Write(flight)
		c.mu.Lock()
		c.mu.out.put(flight)
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// takeBatch waits for something to send. nil: the reader has ended.
func (c *Client) takeBatch() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.mu.readEnd:
			return nil, nil
		case len(c.mu.out.fill) > 0:
			flight := c.mu.out.take()
			c.spaceLocked()
			return flight, nil
		case c.mu.closing:
			return nil, errGoodbye
		}
		c.mu.idle = true
		c.mu.Unlock()
		<-c.wake
		c.mu.Lock()
	}
}

// goodbye ends the sending side in an orderly way.
func (s *serving) goodbye(why error) error {
	if _, err := s.conn.Write(native.AppendGoodbye(nil, native.Goodbye{})); err != nil {
		return err
	}
	if half, ok := s.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	return why
}

// read handles what the server sends on a publishing connection: heartbeats, and the end.
func (s *serving) read() error {
	data := append(make([]byte, 0, stepBytes+2*controlBytes), s.rest()...)
	quiet := silence{timeout: s.timeout, heard: time.Now()}
	for {
		used := 0
		for {
			h, body, n, err := frame.Parse(data[used:], controlBytes)
			if err == frame.ErrShort {
				break
			}
			if err != nil {
				return native.AsError(err)
			}
			if err := s.client.control(h, body); err != nil {
				return err
			}
			used += n
		}
		data = append(data[:0], data[used:]...)
		s.setReadDeadline(quiet.deadline(time.Now()))
		n, err := s.conn.Read(data[len(data):cap(data)])
		now := time.Now()
		if n > 0 {
			data = data[:len(data)+n]
			quiet.hear(now)
			continue
		}
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			return err
		}
		if s.lingerUntil.Load() != 0 {
			return errSilent
		}
		ask, err := quiet.check(now)
		if err != nil {
			return err
		}
		if ask {
			s.client.probe()
		}
	}
}

// setReadDeadline never goes past the last deadline, whoever sets which first.
func (s *serving) setReadDeadline(t time.Time) {
	_ = s.conn.SetReadDeadline(t)
	if until := s.lingerUntil.Load(); until != 0 {
		_ = s.conn.SetReadDeadline(time.Unix(0, until))
	}
}

// probe asks the server for an echo.
func (c *Client) probe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.out.ask(nil) {
		c.signalLocked()
	}
}

// control handles one frame.
func (c *Client) control(h frame.Header, body []byte) error {
	if h.Kind != frame.Heartbeat {
		if err := ending(h, body); err != nil {
			return err
		}
		return native.Errorf(native.CodeUnknownKind, "%s on a publishing connection",
			native.KindName(h.Kind))
	}
	b, err := native.ParseHeartbeat(h, body)
	if err != nil || b.Sequence == 0 {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b.Reply {
		c.mu.out.echo(b.Sequence)
		return nil
	}
	c.mu.out.reply(b.Sequence)
	c.signalLocked()
	return nil
}
