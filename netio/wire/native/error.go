package native

import (
	"errors"
	"fmt"

	"github.com/fantail-io/fantail/ring/frame"
)

// Code is why a session, or a request, ends. Values travel on the wire and never change
// meaning; unknown ones are legal.
type Code uint16

// The codes of ERROR and GOODBYE.
const (
	// CodeNone is an orderly end, in a GOODBYE only.
	CodeNone Code = 0
	// CodeBadFrame is a frame that breaks its kind's layout.
	CodeBadFrame Code = 1
	// CodeUnknownKind is a frame of a kind that the receiver does not know or expect.
	CodeUnknownKind Code = 2
	// CodeFrameTooLarge is a length over the receiver's limit.
	CodeFrameTooLarge Code = 3
	// CodeBadHandshake is a first frame that is no HELLO, or a second HELLO.
	CodeBadHandshake Code = 4
	// CodeVersion is a version that the server does not speak.
	CodeVersion Code = 5
	// CodeAuth is a wrong or missing token.
	CodeAuth Code = 6
	// CodeHandshakeTimeout is a HELLO that took too long.
	CodeHandshakeTimeout Code = 7
	// CodeIdleTimeout is a peer from which nothing came for too long.
	CodeIdleTimeout Code = 8
	// CodeTopicName is a topic's name, or a pattern, that is not allowed.
	CodeTopicName Code = 9
	// CodeUnknownTopic is a PUBLISH on an alias that no TOPIC declared.
	CodeUnknownTopic Code = 10
	// CodeTooManyTopics is one topic too many, for the connection or the server.
	CodeTooManyTopics Code = 11
	// CodeTooManySubscriptions is one pattern too many, for the connection or the server.
	CodeTooManySubscriptions Code = 12
	// CodeTooManyConnections is one connection too many, in all or from this address.
	CodeTooManyConnections Code = 13
	// CodePolicy is a slow-consumer policy that is out of bounds.
	CodePolicy Code = 14
	// CodeNotSupported is a request that this server cannot serve.
	CodeNotSupported Code = 15
	// CodeSlowConsumer ends a subscriber whose policy is Disconnect.
	CodeSlowConsumer Code = 16
	// CodeShuttingDown is a server that is closing.
	CodeShuttingDown Code = 17
	// CodeInternal is a failure of the server that is no fault of the peer.
	CodeInternal Code = 18
)

var codeNames = [...]string{"none", "bad frame", "unknown kind of frame", "frame too large",
	"bad handshake", "version not supported", "not authorised", "handshake timeout",
	"idle timeout", "topic name not allowed", "unknown topic", "too many topics",
	"too many subscriptions", "too many connections", "policy not allowed", "not supported",
	"slow consumer", "shutting down", "internal error"}

// String is the code's meaning in a few words.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("code %d", uint16(c))
}

// Error is a code and a text: what an ERROR frame carries, and what Parse answers. It Is
// the sentinel of its code.
type Error struct {
	Code Code
	// Text says more, for people: at most MaxTextBytes of printable ASCII on the wire.
	Text string
}

// Sentinels, one a code, for errors.Is.
var (
	ErrBadFrame             = &Error{Code: CodeBadFrame}
	ErrUnknownKind          = &Error{Code: CodeUnknownKind}
	ErrFrameTooLarge        = &Error{Code: CodeFrameTooLarge}
	ErrBadHandshake         = &Error{Code: CodeBadHandshake}
	ErrVersion              = &Error{Code: CodeVersion}
	ErrAuth                 = &Error{Code: CodeAuth}
	ErrHandshakeTimeout     = &Error{Code: CodeHandshakeTimeout}
	ErrIdleTimeout          = &Error{Code: CodeIdleTimeout}
	ErrTopicName            = &Error{Code: CodeTopicName}
	ErrUnknownTopic         = &Error{Code: CodeUnknownTopic}
	ErrTooManyTopics        = &Error{Code: CodeTooManyTopics}
	ErrTooManySubscriptions = &Error{Code: CodeTooManySubscriptions}
	ErrTooManyConnections   = &Error{Code: CodeTooManyConnections}
	ErrPolicy               = &Error{Code: CodePolicy}
	ErrNotSupported         = &Error{Code: CodeNotSupported}
	ErrSlowConsumer         = &Error{Code: CodeSlowConsumer}
	ErrShuttingDown         = &Error{Code: CodeShuttingDown}
	ErrInternal             = &Error{Code: CodeInternal}
)

// Error is the code's meaning, and the text.
func (e *Error) Error() string {
	if e.Text == "" {
		return "native: " + e.Code.String()
	}
	return "native: " + e.Code.String() + ": " + e.Text
}

// Is reports whether target is the sentinel of e's code: an *Error without a text.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Text == ""
}

// Errorf makes an Error.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Text: fmt.Sprintf(format, args...)}
}

// AsError answers the Error that a peer is to be told: err itself where it wraps one, and
// otherwise what an error of frame.Parse amounts to. Other errors are CodeInternal, without
// their text, which is no business of a peer.
func AsError(err error) *Error {
	var e *Error
	var length *frame.LengthError
	switch {
	case errors.As(err, &e):
		return e
	case errors.As(err, &length):
		if length.Length < frame.HeaderBytes {
			return Errorf(CodeBadFrame, "length %d is less than a header", length.Length)
		}
		return Errorf(CodeFrameTooLarge, "length %d is over the limit of %d bytes",
			length.Length, length.Max)
	case errors.Is(err, frame.ErrMalformed):
		return Errorf(CodeBadFrame, "reserved bytes of the header are not zero")
	}
	return &Error{Code: CodeInternal}
}

func bad(format string, args ...any) error { return Errorf(CodeBadFrame, format, args...) }
