package redispeer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/resp"
)

// subscribers are the sockets of all subscribers, and the goroutines that read them.
type subscribers struct {
	conns   []*conn
	reading sync.WaitGroup
	errs    chan error // one a goroutine
}

func subscribe(ctx context.Context, address string, meters []*load.Meter) (io.Closer, error) {
	s := &subscribers{errs: make(chan error, len(meters))}
	for range meters {
		c, err := dial(ctx, address)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.conns = append(s.conns, c)
		var r resp.Reply
		if err := c.ask(&r, "SUBSCRIBE", load.Topic); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	for i, c := range s.conns {
		s.reading.Go(func() { s.errs <- read(c, meters[i]) })
	}
	return s, nil
}

// read gives a connection's messages to m until it is closed.
func read(c *conn, m *load.Meter) error {
	var r receiver
	for {
		n, err := r.take(c.held, m)
		if err != nil {
			return err
		}
		c.held = c.held[n:]
		switch err := c.fill(); {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("redispeer: subscriber: %w", err)
		}
	}
}

// Close closes the sockets and waits for their goroutines; the error is the first of theirs.
func (s *subscribers) Close() error {
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.reading.Wait()
	close(s.errs)
	for err := range s.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// publisher pipelines PUBLISH commands; a goroutine reads the replies.
type publisher struct {
	conn *conn
	out  *bufio.Writer
	head []byte // of a command, up to the payload
	size int

	mu struct {
		sync.Mutex
		replies *sync.Cond
		read    int // replies
		err     error
	}
	published int
	closed    sync.WaitGroup
}

// writeBytes is what the publisher sends at once.
const writeBytes = 64 << 10

func publish(ctx context.Context, address string, w load.Workload) (load.Publisher, error) {
	c, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	p := &publisher{conn: c, out: bufio.NewWriterSize(c, writeBytes), size: w.Bytes}
	p.mu.replies = sync.NewCond(&p.mu)
	whole := resp.AppendCommand(nil, "PUBLISH", load.Topic, string(make([]byte, w.Bytes)))
	p.head = whole[:len(whole)-w.Bytes-2]
	p.closed.Go(func() { p.readReplies(int64(w.Subscribers)) })
	return p, nil
}

func (p *publisher) readReplies(subscribers int64) {
	var r resp.Reply
	for read := 1; ; read++ {
		err := p.conn.next(&r)
		if err == nil && (r.Kind != resp.Integer || r.Integer != subscribers) {
			err = fmt.Errorf("redispeer: message %d went to %d of %d subscribers", read, r.Integer,
				subscribers)
		}
		whole := len(p.conn.held) == 0 // no reply waits: say so, once a read and not a reply
		if err == nil && !whole {
			continue
		}
		p.mu.Lock()
		p.mu.read, p.mu.err = read, err
		p.mu.Unlock()
		p.mu.replies.Broadcast()
		if err != nil {
			return
		}
	}
}

// Publish buffers a command, and sends when the buffer is full.
func (p *publisher) Publish(_ context.Context, b []byte) error {
	if len(b) != p.size {
		return fmt.Errorf("redispeer: %d bytes instead of %d", len(b), p.size)
	}
	p.published++
	_, _ = p.out.Write(p.head) // a bufio.Writer's error stays with it
	_, _ = p.out.Write(b)
	_, err := p.out.WriteString("\r\n")
	return err
}

// Send sends what is buffered.
func (p *publisher) Send(context.Context) error { return p.out.Flush() }

// Finish waits for all replies.
func (p *publisher) Finish(ctx context.Context) error {
	if err := p.out.Flush(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = p.conn.Close() })()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.mu.read < p.published && p.mu.err == nil {
		p.mu.replies.Wait()
	}
	return p.mu.err
}

// Close closes the connection.
func (p *publisher) Close() error {
	err := p.conn.Close()
	p.closed.Wait()
	return err
}
