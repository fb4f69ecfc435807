package native

import (
	"encoding/binary"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// StartKind is where in the stream a subscription begins. Values travel on the wire.
type StartKind uint8

// StartLive begins with the messages that are published from now on. It is the only kind
// so far; servers answer others with CodeNotSupported.
const StartLive StartKind = 0

// Subscribe asks for the messages of the topics that match a pattern. Patterns of one
// connection add up; the policy is the connection's, and the first SUBSCRIBE chooses it.
//
//	header   sequence: the request's number
//	0   u8   policy
//	1   u8   start
//	2   u16  0
//	4   u32  MaxLag, in messages
//	8   u32  For, in milliseconds
//	12  u32  0
//	16  u64  start sequence; 0 with StartLive
//	24       pattern
type Subscribe struct {
	// Request is the client's number for the request; SUBSCRIBED repeats it.
	Request uint64
	// Pattern is 1 to MaxPatternBytes; a view.
	Pattern []byte
	// Policy is checked for what the wire can say only: see ring.Policy.Check. For has a
	// resolution of 1 ms.
	Policy        ring.Policy
	Start         StartKind
	StartSequence uint64
}

const subscribeBytes = 24

// AppendSubscribe appends s. Policy.For is rounded up to whole milliseconds.
func AppendSubscribe(dst []byte, s *Subscribe) []byte {
	from := len(dst)
	dst = start(dst, frame.Header{Kind: frame.Subscribe, Sequence: s.Request})
	dst = append(dst, byte(s.Policy.Kind), byte(s.Start), 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, s.Policy.MaxLag)
	millis := (s.Policy.For + time.Millisecond - 1) / time.Millisecond
	dst = binary.LittleEndian.AppendUint64(dst, uint64(uint32(max(0, millis))))
	dst = binary.LittleEndian.AppendUint64(dst, s.StartSequence)
	dst = append(dst, s.Pattern...)
	return finish(dst, from)
}

// ParseSubscribe reads a SUBSCRIBE. Whether the policy and the start can be served, and
// what the pattern consists of, is not checked.
func ParseSubscribe(h frame.Header, body []byte) (v Subscribe, err error) {
	if err := check(&h, frame.Subscribe, usesSequence, body); err != nil {
		return v, err
	}
	if len(body) < subscribeBytes {
		return v, bad("SUBSCRIBE of %d bytes; the least is %d", len(body), subscribeBytes)
	}
	v = Subscribe{
		Request: h.Sequence,
		Pattern: body[subscribeBytes:],
		Policy: ring.Policy{
			Kind:   ring.PolicyKind(body[0]),
			MaxLag: binary.LittleEndian.Uint32(body[4:]),
			For:    time.Duration(binary.LittleEndian.Uint32(body[8:])) * time.Millisecond,
		},
		Start:         StartKind(body[1]),
		StartSequence: binary.LittleEndian.Uint64(body[16:]),
	}
	switch {
	case binary.LittleEndian.Uint16(body[2:]) != 0, binary.LittleEndian.Uint32(body[12:]) != 0:
		return Subscribe{}, bad("SUBSCRIBE with reserved bytes that are not zero")
	case v.Start == StartLive && v.StartSequence != 0:
		return Subscribe{}, bad("SUBSCRIBE from now on with a start sequence")
	case v.Policy.For > MaxForMillis*time.Millisecond:
		return Subscribe{}, Errorf(CodePolicy, "WaitFor %v is over the limit of 1h", v.Policy.For)
	}
	if err := checkPattern(v.Pattern); err != nil {
		return Subscribe{}, err
	}
	return v, nil
}

func checkPattern(p []byte) error {
	if len(p) == 0 || len(p) > MaxPatternBytes {
		return Errorf(CodeTopicName, "a pattern of %d bytes is outside 1 to %d", len(p),
			MaxPatternBytes)
	}
	return nil
}

// Subscribed says that a SUBSCRIBE is in force.
//
//	header   sequence: the request's number
//	0   u64  next sequence
//	8        pattern
type Subscribed struct {
	// Request is that of the SUBSCRIBE.
	Request uint64
	// NextSequence is the first sequence of the stream that the subscription covers.
	NextSequence uint64
	// Pattern is that of the SUBSCRIBE; a view.
	Pattern []byte
}

const subscribedBytes = 8

// AppendSubscribed appends s.
func AppendSubscribed(dst []byte, s *Subscribed) []byte {
	from := len(dst)
	dst = start(dst, frame.Header{Kind: frame.Subscribed, Sequence: s.Request})
	dst = binary.LittleEndian.AppendUint64(dst, s.NextSequence)
	dst = append(dst, s.Pattern...)
	return finish(dst, from)
}

// ParseSubscribed reads a SUBSCRIBED.
func ParseSubscribed(h frame.Header, body []byte) (v Subscribed, err error) {
	if err := check(&h, frame.Subscribed, usesSequence, body); err != nil {
		return v, err
	}
	if len(body) < subscribedBytes {
		return v, bad("SUBSCRIBED of %d bytes; the least is %d", len(body), subscribedBytes)
	}
	if err := checkPattern(body[subscribedBytes:]); err != nil {
		return v, err
	}
	return Subscribed{Request: h.Sequence, NextSequence: binary.LittleEndian.Uint64(body),
		Pattern: body[subscribedBytes:]}, nil
}

// Unsubscribe takes a pattern back. It has no answer; messages that are on their way still
// come.
//
//	body     the pattern, byte for byte that of the SUBSCRIBE
type Unsubscribe struct {
	Pattern []byte // 1 to MaxPatternBytes; a view
}

// AppendUnsubscribe appends u.
func AppendUnsubscribe(dst []byte, u *Unsubscribe) []byte {
	return frame.Append(dst, frame.Header{Kind: frame.Unsubscribe}, u.Pattern)
}

// ParseUnsubscribe reads an UNSUBSCRIBE.
func ParseUnsubscribe(h frame.Header, body []byte) (v Unsubscribe, err error) {
	if err := check(&h, frame.Unsubscribe, 0, body); err != nil {
		return v, err
	}
	if err := checkPattern(body); err != nil {
		return v, err
	}
	return Unsubscribe{Pattern: body}, nil
}
