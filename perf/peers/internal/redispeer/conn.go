package redispeer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/resp"
)

// readBytes is what a connection reads at once; the buffer has room for a whole reply beside.
const readBytes = 64 << 10

// conn is a connection that reads replies. One goroutine uses it.
type conn struct {
	net.Conn
	held []byte // read and not yet parsed: a view of buf
	buf  []byte
}

func dial(ctx context.Context, address string) (*conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("redispeer: %w", err)
	}
	return &conn{Conn: c, buf: make([]byte, readBytes)}, nil
}

// fill reads more bytes behind those held.
func (c *conn) fill() error {
	if len(c.held) == len(c.buf) {
		if len(c.buf) > 2*resp.MaxBulk {
			return resp.ErrMalformed
		}
		c.buf = make([]byte, 2*len(c.buf))
	}
	kept := copy(c.buf, c.held)
	n, err := c.Read(c.buf[kept:])
	c.held = c.buf[:kept+n]
	if n > 0 {
		return nil
	}
	return err
}

// next reads one reply, which is a view until the next call. An error reply is an error.
func (c *conn) next(r *resp.Reply) error {
	for {
		n, err := resp.Parse(c.held, r)
		if err == nil {
			c.held = c.held[n:]
			if r.Kind == resp.Error {
				return fmt.Errorf("redispeer: the server says %q", r.Bytes)
			}
			return nil
		}
		if !errors.Is(err, resp.ErrShort) {
			return err
		}
		if err := c.fill(); err != nil {
			return err
		}
	}
}

func (c *conn) ask(r *resp.Reply, words ...string) error {
	if _, err := c.Write(resp.AppendCommand(nil, words...)); err != nil {
		return fmt.Errorf("redispeer: %w", err)
	}
	if err := c.next(r); err != nil {
		return fmt.Errorf("redispeer: %s: %w", words[0], err)
	}
	return nil
}

// receiver recognises messages on load.Topic whose payload is as long as that of the one
// before, by comparing their head as a whole.
type receiver struct {
	head    []byte
	payload int
	reply   resp.Reply
}

// take gives the messages in b to m and returns how many bytes they were.
func (r *receiver) take(b []byte, m *load.Meter) (n int, err error) {
	for {
		rest := b[n:]
		if whole := len(r.head) + r.payload + 2; r.payload > 0 && len(rest) >= whole &&
			bytes.HasPrefix(rest, r.head) && rest[whole-2] == '\r' {
			m.Take(rest[len(r.head) : whole-2])
			n += whole
			continue
		}
		used, err := resp.Parse(rest, &r.reply)
		if errors.Is(err, resp.ErrShort) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += used
		if v := r.reply.Items; len(v) == 3 && string(v[0].Bytes) == "message" {
			m.Take(v[2].Bytes)
			r.payload = len(v[2].Bytes)
			r.head = append(r.head[:0], rest[:used-r.payload-2]...)
		}
	}
}
