package native

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// link is a well-behaved client's end of a connection, for goroutines and processes that
// have no testing.TB.
type link struct {
	nc       *net.TCPConn
	r        *bufio.Reader
	body     []byte // of the last frame
	streamID uint64
}

// linkTimeout bounds the life of a link, so that no test hangs.
const linkTimeout = 60 * time.Second

func dialLink(address string) (*link, error) {
	nc, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	k := &link{nc: nc.(*net.TCPConn), r: bufio.NewReaderSize(nc, 16<<10)}
	k.limit(linkTimeout)
	if err := k.write(native.AppendHello(nil, &native.Hello{Version: native.Version, Name: "link"})); err != nil {
		nc.Close()
		return nil, err
	}
	h, body, err := k.read()
	if err == nil && h.Kind == frame.Error {
		refusal, _ := native.ParseError(h, body)
		err = refusal
	}
	if err == nil {
		var w native.Welcome
		w, err = native.ParseWelcome(h, body)
		k.streamID = w.StreamID
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	return k, nil
}

// limit sets how long the link may live from now on.
func (k *link) limit(d time.Duration) { _ = k.nc.SetDeadline(time.Now().Add(d)) }

func (k *link) write(b []byte) error {
	_, err := k.nc.Write(b)
	return err
}

// read answers the next frame; body is valid until the next call.
func (k *link) read() (h frame.Header, body []byte, err error) {
	head, err := k.r.Peek(frame.HeaderBytes)
	if err != nil {
		return h, nil, err
	}
	n := frame.Aligned(int(frame.Get(head).Length))
	if n < frame.HeaderBytes || n > frame.MaxBytes {
		return h, nil, fmt.Errorf("frame of %d bytes", n)
	}
	if n > cap(k.body) {
		k.body = make([]byte, n)
	}
	k.body = k.body[:n]
	if _, err = io.ReadFull(k.r, k.body); err != nil {
		return h, nil, err
	}
	h, body, _, err = frame.Parse(k.body, frame.MaxBytes)
	return h, body, err
}

// subscribe asks for a pattern and waits until it is in force.
func (k *link) subscribe(pattern string, policy ring.Policy) error {
	err := k.write(native.AppendSubscribe(nil, &native.Subscribe{Request: 1,
		Pattern: []byte(pattern), Policy: policy}))
	for err == nil {
		var h frame.Header
		var body []byte
		if h, body, err = k.read(); err != nil {
			break
		}
		switch h.Kind {
		case frame.Subscribed:
			return nil
		case frame.Error:
			refusal, _ := native.ParseError(h, body)
			return refusal
		}
	}
	return err
}

// source publishes payloads that describe themselves on one topic of a link.
type source struct {
	link   *link
	next   ringtest.Payload // its Sequence is that of the last one
	batch  []byte
	seed   uint64
	least  int // payload bytes
	spread int
}

// newSource dials and declares the topic. Payloads have least to least+spread-1 bytes.
func newSource(address, topic string, number uint32, least, spread int) (*source, error) {
	k, err := dialLink(address)
	if err != nil {
		return nil, err
	}
	s := &source{link: k, seed: uint64(number) * 977, least: max(least, ringtest.MinPayload),
		spread: max(spread, 1)}
	s.next.Publisher, s.next.Seed = number, number*7919
	return s, k.write(native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte(topic)}))
}

// payload is the next one.
func (s *source) payload(dst []byte) []byte {
	s.next.Sequence++
	s.seed = s.seed*6364136223846793005 + 1442695040888963407
	s.next.Bytes = s.least + int(s.seed>>33)%s.spread
	return ringtest.AppendPayload(dst, s.next)
}

// publish sends n messages, some at a time.
func (s *source) publish(n int) error {
	for n > 0 {
		s.batch = s.batch[:0]
		for ; n > 0 && len(s.batch) < 32<<10; n-- {
			b := s.payload(nil)
			s.batch = native.AppendPublish(s.batch, &native.Publish{Alias: 1,
				Sequence: s.next.Sequence, Payload: b})
		}
		if err := s.link.write(s.batch); err != nil {
			return err
		}
	}
	return nil
}

// half sends the first part of a message that is never finished, and does not count.
func (s *source) half() error {
	kept := s.next
	b := native.AppendPublish(nil, &native.Publish{Alias: 1, Payload: s.payload(nil)})
	s.next = kept
	return s.link.write(b[:len(b)/2])
}

// sync waits until the server has taken everything that was published.
func (s *source) sync() error {
	err := s.link.write(native.AppendHeartbeat(nil, native.Heartbeat{Sequence: 99}))
	for err == nil {
		var h frame.Header
		if h, _, err = s.link.read(); err == nil && h.Kind == frame.Heartbeat && h.Sequence == 99 {
			return nil
		}
	}
	return err
}

var errNoName = errors.New("DATA of a topic that has no name yet")
