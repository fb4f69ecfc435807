package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/valyala/bytebufferpool"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring/frame"
)

// past is a deadline that ends a wait at once.
var past = time.Unix(1, 0)

// link is one connection whose handshake is over.
type link struct {
	conn    net.Conn
	welcome native.Welcome
	next    uint64 // SUBSCRIBED's next sequence
	timeout time.Duration

	in   *bytebufferpool.ByteBuffer // what was read
	used int                        // what of it belongs to the handshake
}

// dial connects, says HELLO, asks request where there is one, and waits for the answers.
func dial(ctx context.Context, address string, c *Config, request *native.Subscribe) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.DialTimeout, fmt.Errorf("%w: no answer within %v",
		os.ErrDeadlineExceeded, c.DialTimeout))
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, c.Network, address)
	if err != nil {
		return nil, &ConnectionError{Address: address, Op: "dial", Err: err}
	}
	if tcp, ok := conn.(*net.TCPConn); ok && request != nil && c.SocketBytes > 0 {
		_ = tcp.SetReadBuffer(c.SocketBytes) // a wish; the connection works without
	}
	l := &link{conn: conn, in: bytebufferpool.Get()}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(past) })
	err = l.handshake(c, request)
	if !stop() {
		var refused *native.Error
		if !errors.As(err, &refused) {
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		l.rest()
		conn.Close()
		return nil, &ConnectionError{Address: address, Op: "handshake", Err: err}
	}
	l.timeout = c.timeout(&l.welcome)
	return l, nil
}

func (l *link) handshake(c *Config, request *native.Subscribe) error {
	out := bytebufferpool.Get()
	defer bytebufferpool.Put(out)
	out.B = native.AppendHello(out.B, &native.Hello{Version: native.Version, Name: c.Name,
		Token: c.Token})
	if request != nil {
		out.B = native.AppendSubscribe(out.B, request)
	}
	if _, err := l.conn.Write(out.B); err != nil {
		return err
	}
	h, body, err := l.await(frame.Welcome)
	if err != nil {
		return err
	}
	if l.welcome, err = native.ParseWelcome(h, body); err != nil {
		return err
	}
	if l.welcome.Version != native.Version {
		return native.Errorf(native.CodeVersion, "the server speaks version %d, this client %d",
			l.welcome.Version, native.Version)
	}
	if request == nil {
		return nil
	}
	if h, body, err = l.await(frame.Subscribed); err != nil {
		return err
	}
	s, err := native.ParseSubscribed(h, body)
	if err != nil {
		return err
	}
	if s.Request != request.Request || !bytes.Equal(s.Pattern, request.Pattern) {
		return native.Errorf(native.CodeBadHandshake, "SUBSCRIBED to another request")
	}
	l.next = s.NextSequence
	return nil
}

// await reads on to a frame of that kind. The body is valid until the next await or rest.
func (l *link) await(kind frame.Kind) (frame.Header, []byte, error) {
	for {
		h, body, err := l.frame()
		switch {
		case err != nil:
			return h, nil, err
		case h.Kind == kind:
			return h, body, nil
		case h.Kind == frame.Heartbeat:
			// Whoever asks now will ask again.
		default:
			if err := ending(h, body); err != nil {
				return h, nil, err
			}
			return h, nil, native.Errorf(native.CodeBadHandshake, "%s where %s belongs",
				native.KindName(h.Kind), native.KindName(kind))
		}
	}
}

// ending answers what an ERROR or a GOODBYE says; nil for other frames.
func ending(h frame.Header, body []byte) error {
	switch h.Kind {
	case frame.Error:
		e, err := native.ParseError(h, body)
		if err != nil {
			return err
		}
		return e
	case frame.Goodbye:
		g, err := native.ParseGoodbye(h, body)
		if err != nil {
			return err
		}
		return native.Errorf(g.Reason, "the server said goodbye")
	}
	return nil
}

// frame reads one frame.
func (l *link) frame() (frame.Header, []byte, error) {
	for {
		h, body, n, err := frame.Parse(l.in.B[l.used:], controlBytes)
		if err == nil {
			l.used += n
			return h, body, nil
		}
		if err != frame.ErrShort {
			if hint := native.Hint(l.in.B[l.used:]); hint != "" {
				err = native.Errorf(native.CodeBadHandshake, "%s", hint)
			}
			return h, nil, native.AsError(err)
		}
		from := len(l.in.B)
		b := slices.Grow(l.in.B, stepBytes)
		n, err = l.conn.Read(b[from : from+stepBytes])
		l.in.B = b[:from+n]
		if n == 0 && err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return h, nil, err
		}
	}
}

// rest answers what was read beyond the handshake, a copy, and gives the buffer back.
func (l *link) rest() []byte {
	if l.in == nil {
		return nil
	}
	b := bytes.Clone(l.in.B[l.used:])
	bytebufferpool.Put(l.in)
	l.in = nil
	return b
}
