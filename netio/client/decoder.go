package client

import (
	"encoding/binary"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// decoder turns a subscription's bytes into messages, in place. It is a state machine
// without I/O: the owner sets rest, calls next until it answers false, keeps what is left
// of rest for later, and sends out.
type decoder struct {
	message Message
	rest    []byte
	maxBody uint32 // the longest body, in bytes
	floor   uint64 // sequences below were delivered on an earlier connection
	last    uint64 // the largest sequence seen
	seen    uint64 // messages delivered; the owner sets it back
	odd     bool   // gap or end is set
	gap     Gap    // to be delivered first
	end     error  // why the server has ended the connection; next answers false then
	out     []byte // answers to be sent
}

func newDecoder(maxFrameBytes int) decoder {
	return decoder{maxBody: uint32(maxFrameBytes - frame.HeaderBytes)}
}

// connect starts a connection. first says that there was none before; same, that it leads
// to the same stream as that.
func (d *decoder) connect(first, same bool, next uint64) {
	last := d.last
	next = max(next, 1)
	d.rest, d.out, d.end, d.gap = nil, d.out[:0], nil, Gap{}
	d.message.topics = new(topicTable)
	switch {
	case first:
		d.last = next - 1
	case !same:
		d.gap = Gap{Reason: ring.GapReconnect}
		d.last, d.floor = next-1, 0
	case next > last+1:
		d.gap = Gap{First: last + 1, Last: next - 1, Count: next - 1 - last,
			Reason: ring.GapReconnect}
		d.last, d.floor = next-1, last+1
	default:
		d.floor = last + 1
	}
	d.odd = d.gap.Reason != ring.GapNone
}

// next moves to the next message or gap, and answers whether there is one.
func (d *decoder) next() bool {
	for {
		b := d.rest
		if len(b) >= frame.HeaderBytes && !d.odd {
			// One load says that it is DATA without flags, and how long: see frame.Header.
			word := binary.LittleEndian.Uint64(b)
			length := uint32(word)
			n := frame.Aligned(int(length))
			topic := binary.LittleEndian.Uint64(b[8:])
			sequence := binary.LittleEndian.Uint64(b[16:])
			if word>>32 == uint64(frame.Data) && length-frame.HeaderBytes <= d.maxBody &&
				n <= len(b) && uint32(topic)-1 < native.MaxTopicID && sequence >= d.floor {
				m := &d.message
				m.Sequence = sequence
				m.Time = int64(binary.LittleEndian.Uint64(b[24:]))
				m.TopicID, m.Publisher = uint32(topic), uint32(topic>>32)
				m.Payload = b[frame.HeaderBytes:length:length]
				if m.Gap.Reason != ring.GapNone {
					m.Gap = Gap{}
				}
				d.last = max(d.last, sequence)
				d.rest = b[n:]
				d.seen++
				return true
			}
		}
		if delivered, more := d.slow(); !more {
			return delivered
		}
	}
}

// slow takes one frame that is no ordinary message. It answers whether the message is set,
// and otherwise whether there may be more frames.
func (d *decoder) slow() (delivered, more bool) {
	if g := d.gap; g.Reason != ring.GapNone {
		d.gap, d.odd = Gap{}, false
		d.deliver(g)
		return true, false
	}
	if d.end != nil {
		return false, false
	}
	h, body, n, err := frame.Parse(d.rest, int(d.maxBody)+frame.HeaderBytes)
	if err == frame.ErrShort {
		return false, false
	}
	if err != nil {
		d.end, d.odd = native.AsError(err), true
		return false, false
	}
	d.rest = d.rest[n:]
	switch h.Kind {
	case frame.Data:
		if _, d.end = native.ParseData(h, body); d.end == nil && h.Sequence >= d.floor {
			d.end = native.Errorf(native.CodeInternal, "a message that next did not take")
		}
	case frame.Gap:
		g, err := native.ParseGap(h, body)
		if err == nil {
			d.last = max(d.last, g.Last)
			d.deliver(g)
			return true, false
		}
		d.end = err
	default:
		d.end = d.control(h, body)
	}
	d.odd = d.end != nil
	return false, !d.odd
}

// deliver makes the message a gap.
func (d *decoder) deliver(g Gap) {
	d.message = Message{Sequence: g.First, Gap: g, topics: d.message.topics}
}

// control handles a frame that the subscriber does not see.
func (d *decoder) control(h frame.Header, body []byte) error {
	switch h.Kind {
	case frame.Topic:
		t, err := native.ParseTopic(h, body)
		if err == nil && !d.message.topics.set(t.ID, t.Name) {
			err = native.Errorf(native.CodeBadFrame, "a second name for topic %d", t.ID)
		}
		return err
	case frame.Heartbeat:
		b, err := native.ParseHeartbeat(h, body)
		if err == nil && !b.Reply && b.Sequence != 0 && len(d.out) < slackBytes {
			d.out = native.AppendHeartbeat(d.out, native.Heartbeat{Sequence: b.Sequence,
				Reply: true})
		}
		return err
	case frame.Error, frame.Goodbye:
		return ending(h, body)
	}
	return native.Errorf(native.CodeUnknownKind, "%s on a subscription", native.KindName(h.Kind))
}

// ask appends a request for an echo to out.
func (d *decoder) ask() {
	if len(d.out) < slackBytes {
		d.out = native.AppendHeartbeat(d.out, native.Heartbeat{Sequence: 1})
	}
}
