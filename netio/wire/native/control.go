package native

import (
	"encoding/binary"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

const gapBytes = 32

// AppendGap appends a GAP: sequences that the subscriber will not get.
//
//	0   u64  first
//	8   u64  last
//	16  u64  count
//	24  u8   reason
//	25       7 bytes: 0
func AppendGap(dst []byte, g ring.Gap) []byte {
	from := len(dst)
	dst = start(dst, frame.Header{Kind: frame.Gap})
	dst = binary.LittleEndian.AppendUint64(dst, g.First)
	dst = binary.LittleEndian.AppendUint64(dst, g.Last)
	dst = binary.LittleEndian.AppendUint64(dst, g.Count)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(g.Reason))
	return finish(dst, from)
}

// ParseGap reads a GAP. Reasons that this build does not know are accepted.
func ParseGap(h frame.Header, body []byte) (g ring.Gap, err error) {
	if err := check(&h, frame.Gap, 0, body); err != nil {
		return g, err
	}
	if len(body) != gapBytes {
		return g, bad("GAP of %d bytes; they have %d", len(body), gapBytes)
	}
	reason := binary.LittleEndian.Uint64(body[24:])
	g = ring.Gap{
		First:  binary.LittleEndian.Uint64(body),
		Last:   binary.LittleEndian.Uint64(body[8:]),
		Count:  binary.LittleEndian.Uint64(body[16:]),
		Reason: ring.GapReason(reason),
	}
	switch {
	case reason == 0 || reason > 0xff:
		return ring.Gap{}, bad("GAP with reason %d", reason)
	case g.First > g.Last || g.Count > 0 && g.Count-1 > g.Last-g.First:
		return ring.Gap{}, bad("GAP of %d messages from %d to %d", g.Count, g.First, g.Last)
	}
	return g, nil
}

// Heartbeat says that its sender is there.
//
//	header   sequence: nonzero asks for an echo; flags: FlagReply in the echo
//	body     none
type Heartbeat struct {
	// Sequence is the sender's, or in a reply that of the heartbeat it answers. Frames are
	// handled in order: who gets the echo knows that all it sent before was handled.
	Sequence uint64
	Reply    bool
}

// AppendHeartbeat appends b.
func AppendHeartbeat(dst []byte, b Heartbeat) []byte {
	h := frame.Header{Kind: frame.Heartbeat, Sequence: b.Sequence}
	if b.Reply {
		h.Flags = FlagReply
	}
	return frame.Append(dst, h, nil)
}

// ParseHeartbeat reads a HEARTBEAT.
func ParseHeartbeat(h frame.Header, body []byte) (v Heartbeat, err error) {
	if err := check(&h, frame.Heartbeat, usesSequence|usesFlags, body); err != nil {
		return v, err
	}
	switch {
	case len(body) != 0:
		return v, bad("HEARTBEAT with a body of %d bytes", len(body))
	case h.Flags&^FlagReply != 0:
		return v, bad("HEARTBEAT with unknown flags %#x", h.Flags)
	case h.Flags == FlagReply && h.Sequence == 0:
		return v, bad("HEARTBEAT in reply to none")
	}
	return Heartbeat{Sequence: h.Sequence, Reply: h.Flags == FlagReply}, nil
}

const errorBytes = 4

// AppendError appends an ERROR, after which its sender sends nothing more and closes.
// Bytes of the text that are not printable ASCII become question marks, and it is cut to
// MaxTextBytes.
//
//	0   u16  code
//	2   u16  0
//	4        text
func AppendError(dst []byte, e *Error) []byte {
	from := len(dst)
	dst = start(dst, frame.Header{Kind: frame.Error})
	dst = binary.LittleEndian.AppendUint32(dst, uint32(e.Code))
	for i := range min(len(e.Text), MaxTextBytes) {
		c := e.Text[i]
		if c < ' ' || c > '~' {
			c = '?'
		}
		dst = append(dst, c)
	}
	return finish(dst, from)
}

// ParseError reads an ERROR. The second error is that the frame is malformed.
func ParseError(h frame.Header, body []byte) (*Error, error) {
	if err := check(&h, frame.Error, 0, body); err != nil {
		return nil, err
	}
	switch {
	case len(body) < errorBytes || len(body) > errorBytes+MaxTextBytes:
		return nil, bad("ERROR of %d bytes, outside %d to %d", len(body), errorBytes,
			errorBytes+MaxTextBytes)
	case binary.LittleEndian.Uint16(body[2:]) != 0:
		return nil, bad("ERROR with reserved bytes that are not zero")
	case binary.LittleEndian.Uint16(body) == 0:
		return nil, bad("ERROR without a code")
	case !printable(body[errorBytes:]):
		return nil, bad("ERROR with a text that is not printable ASCII")
	}
	return &Error{Code: Code(binary.LittleEndian.Uint16(body)),
		Text: string(body[errorBytes:])}, nil
}

// Goodbye is an orderly end: its sender sends nothing more.
//
//	0   u16  reason
//	2   u16  0
type Goodbye struct {
	Reason Code // CodeNone, or CodeShuttingDown and the like
}

const goodbyeBytes = 4

// AppendGoodbye appends g.
func AppendGoodbye(dst []byte, g Goodbye) []byte {
	from := len(dst)
	dst = start(dst, frame.Header{Kind: frame.Goodbye})
	return finish(binary.LittleEndian.AppendUint32(dst, uint32(g.Reason)), from)
}

// ParseGoodbye reads a GOODBYE.
func ParseGoodbye(h frame.Header, body []byte) (v Goodbye, err error) {
	if err := check(&h, frame.Goodbye, 0, body); err != nil {
		return v, err
	}
	if len(body) != goodbyeBytes || binary.LittleEndian.Uint16(body[2:]) != 0 {
		return v, bad("GOODBYE that is not a code and two zero bytes")
	}
	return Goodbye{Reason: Code(binary.LittleEndian.Uint16(body))}, nil
}
