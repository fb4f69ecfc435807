package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// HeaderBytes is the size of every frame's header.
	HeaderBytes = 32
	// Align is the alignment, in bytes, of every frame's start.
	Align = 8
	// MaxBytes is the largest frame, header included, that any peer may send: 1 MiB.
	MaxBytes = 1 << 20
)

// Kind says what a frame carries. Values travel on the wire and never change meaning.
type Kind uint8

// The kinds of frame. Data is the only one that lives in the stream; the others belong to
// sessions of the native protocol (docs/protocol/native.md).
const (
	Data        Kind = 1  // a message, from the server to a subscriber
	Publish     Kind = 2  // a message, from a publisher to the server
	Topic       Kind = 3  // a topic's number and its name
	Subscribe   Kind = 4  // a pattern, and the slow-consumer policy
	Subscribed  Kind = 5  // the answer to Subscribe
	Unsubscribe Kind = 6  // takes a pattern back
	Gap         Kind = 7  // sequences that this subscriber will not get, and why
	Heartbeat   Kind = 8  // I am here; a nonzero sequence asks for an echo
	Error       Kind = 9  // a code and a text; the session ends
	Goodbye     Kind = 10 // an orderly end
	Hello       Kind = 11 // the client's first frame
	Welcome     Kind = 12 // the server's answer to Hello
)

// Errors of Parse. They are flow, never wrapped on the data path.
var (
	// ErrShort says that the bytes end before the frame does.
	ErrShort = errors.New("frame: more bytes needed")
	// ErrMalformed says that the bytes are no frame, whatever may follow.
	ErrMalformed = errors.New("frame: malformed")
)

// Header is a frame's header, decoded.
type Header struct {
	// Length is the frame's size in bytes: header and payload, without the padding.
	Length    uint32
	Kind      Kind
	Flags     uint8
	Topic     uint32 // the topic's number in this stream or session
	Publisher uint32 // who published it; 0 where that means nothing
	Sequence  uint64 // the message's number in the stream, from 1
	Time      int64  // when it was published: nanoseconds since the Unix epoch
}

// Aligned rounds a frame's length up to the bytes that it occupies.
func Aligned(length int) int { return (length + Align - 1) &^ (Align - 1) }

// Put writes h into the first HeaderBytes of b, which must be that long.
func Put(b []byte, h *Header) {
	_ = b[HeaderBytes-1]
	binary.LittleEndian.PutUint64(b[0:8], uint64(h.Length)|uint64(h.Kind)<<32|uint64(h.Flags)<<40)
	binary.LittleEndian.PutUint64(b[8:16], uint64(h.Topic)|uint64(h.Publisher)<<32)
	binary.LittleEndian.PutUint64(b[16:24], h.Sequence)
	binary.LittleEndian.PutUint64(b[24:32], uint64(h.Time))
}

// PutData is Put of a message, for the publish path: the fields come in registers.
func PutData(b []byte, length, topic, publisher uint32, sequence uint64, time int64) {
	_ = b[HeaderBytes-1]
	binary.LittleEndian.PutUint32(b[0:4], length)
	binary.LittleEndian.PutUint32(b[4:8], uint32(Data))
	binary.LittleEndian.PutUint64(b[8:16], uint64(topic)|uint64(publisher)<<32)
	binary.LittleEndian.PutUint64(b[16:24], sequence)
	binary.LittleEndian.PutUint64(b[24:32], uint64(time))
}

// Get reads a header from the first HeaderBytes of b without checking it. It is for bytes
// that this process wrote; peers' bytes go through Parse.
func Get(b []byte) Header {
	_ = b[HeaderBytes-1]
	w := binary.LittleEndian.Uint64(b[0:8])
	t := binary.LittleEndian.Uint64(b[8:16])
	return Header{
		Length:    uint32(w),
		Kind:      Kind(w >> 32),
		Flags:     uint8(w >> 40),
		Topic:     uint32(t),
		Publisher: uint32(t >> 32),
		Sequence:  binary.LittleEndian.Uint64(b[16:24]),
		Time:      int64(binary.LittleEndian.Uint64(b[24:32])),
	}
}

// Append appends a whole frame, padding included, to dst; h.Length is computed.
func Append(dst []byte, h Header, payload []byte) []byte {
	h.Length = uint32(HeaderBytes + len(payload))
	var head [HeaderBytes]byte
	Put(head[:], &h)
	dst = append(dst, head[:]...)
	dst = append(dst, payload...)
	var zero [Align]byte
	return append(dst, zero[:Aligned(int(h.Length))-int(h.Length)]...)
}

// Parse reads the frame at the start of b: its header, its payload (a view of b, capped),
// and the bytes it occupies. No frame may be longer than maxBytes (Length, without the
// padding). The error Is ErrShort until the whole frame is there; a length that is out of
// bounds is ErrMalformed as soon as the first 8 bytes are known, so nothing is ever
// allocated, or waited for, on the word of a peer.
func Parse(b []byte, maxBytes int) (h Header, payload []byte, n int, err error) {
	if len(b) < 8 {
		return h, nil, 0, ErrShort
	}
	length := binary.LittleEndian.Uint32(b)
	if length < HeaderBytes || int64(length) > int64(maxBytes) {
		return h, nil, 0, &LengthError{Length: length, Max: maxBytes}
	}
	if b[6] != 0 || b[7] != 0 {
		return h, nil, 0, ErrMalformed
	}
	n = Aligned(int(length))
	if len(b) < n {
		return h, nil, 0, ErrShort
	}
	return Get(b), b[HeaderBytes:length:length], n, nil
}

// LengthError is a frame whose length no frame may have. It Is ErrMalformed.
type LengthError struct {
	Length uint32 // as claimed
	Max    int    // the limit, in bytes
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("frame: length %d is outside %d to %d bytes", e.Length, HeaderBytes, e.Max)
}

// Is reports whether target is ErrMalformed.
func (e *LengthError) Is(target error) bool { return target == ErrMalformed }
