package native

import (
	"fmt"

	"github.com/fantail-io/fantail/ring/frame"
)

// Version is the protocol's version. A server answers a HELLO of another one with
// CodeVersion.
const Version = 1

// Magic begins the body of every HELLO.
const Magic = "FANTAIL\n"

// FlagReply in a HEARTBEAT's flags marks the echo of one that asked for it.
const FlagReply = 1

var kindNames = [...]string{"", "DATA", "PUBLISH", "TOPIC", "SUBSCRIBE", "SUBSCRIBED",
	"UNSUBSCRIBE", "GAP", "HEARTBEAT", "ERROR", "GOODBYE", "HELLO", "WELCOME"}

// KindName is a kind's name as the specification writes it.
func KindName(k frame.Kind) string {
	if k != 0 && int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// CheckFromClient answers an error, CodeUnknownKind, unless k is a kind that clients send.
func CheckFromClient(k frame.Kind) error {
	switch k {
	case frame.Publish, frame.Heartbeat, frame.Topic, frame.Subscribe, frame.Unsubscribe,
		frame.Hello, frame.Goodbye, frame.Error:
		return nil
	}
	return Errorf(CodeUnknownKind, "%s is no frame for a client to send", KindName(k))
}

// CheckFromServer answers an error, CodeUnknownKind, unless k is a kind that servers send.
func CheckFromServer(k frame.Kind) error {
	switch k {
	case frame.Data, frame.Gap, frame.Heartbeat, frame.Topic, frame.Welcome,
		frame.Subscribed, frame.Goodbye, frame.Error:
		return nil
	}
	return Errorf(CodeUnknownKind, "%s is no frame for a server to send", KindName(k))
}

// uses says which of a header's fields a kind gives a meaning to; the others must be zero.
type uses uint8

const (
	usesTopic uses = 1 << iota
	usesPublisher
	usesSequence
	usesTime
	usesFlags
)

// check compares a header with the kind that it should be of and the fields that it may use.
func check(h *frame.Header, k frame.Kind, u uses, body []byte) error {
	switch {
	case h.Kind != k:
		return Errorf(CodeUnknownKind, "%s where %s belongs", KindName(h.Kind), KindName(k))
	case uint64(h.Length) != uint64(len(body))+frame.HeaderBytes:
		return bad("%s of length %d with a body of %d bytes", KindName(k), h.Length, len(body))
	case u&usesTopic == 0 && h.Topic != 0, u&usesPublisher == 0 && h.Publisher != 0,
		u&usesSequence == 0 && h.Sequence != 0, u&usesTime == 0 && h.Time != 0,
		u&usesFlags == 0 && h.Flags != 0:
		return bad("%s with a header field that it does not use", KindName(k))
	case u&usesTopic != 0 && (h.Topic == 0 || h.Topic > MaxTopicID):
		return bad("%s with topic number %d, outside 1 to %d", KindName(k), h.Topic, MaxTopicID)
	}
	return nil
}

// printable reports whether b is ASCII without control characters.
func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// start appends a header whose length finish fills in.
func start(dst []byte, h frame.Header) []byte {
	var head [frame.HeaderBytes]byte
	frame.Put(head[:], &h)
	return append(dst, head[:]...)
}

// finish sets the length of the frame that begins at from, and pads it.
func finish(dst []byte, from int) []byte {
	length := len(dst) - from
	dst[from] = byte(length)
	dst[from+1] = byte(length >> 8)
	dst[from+2] = byte(length >> 16)
	dst[from+3] = byte(length >> 24)
	var zero [frame.Align]byte
	return append(dst, zero[:frame.Aligned(length)-length]...)
}
