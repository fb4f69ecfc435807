package native

import (
	"encoding/binary"

	"github.com/fantail-io/fantail/ring/frame"
)

// Hello is a client's first frame.
//
//	0        magic, 8 bytes
//	8   u16  version
//	10  u16  flags: 0
//	12  u16  bytes of the name
//	14  u16  bytes of the token
//	16       name, token
type Hello struct {
	Version uint16
	// Flags are reserved; a receiver that knows none refuses any.
	Flags uint16
	// Name tells operators who the client is: at most MaxNameBytes of printable ASCII.
	Name string
	// Token is the shared secret, or empty: at most MaxTokenBytes. It is a view.
	Token []byte
}

const helloBytes = 16

// AppendHello appends h.
func AppendHello(dst []byte, h *Hello) []byte {
	from := len(dst)
	dst = start(dst, frame.Header{Kind: frame.Hello})
	dst = append(dst, Magic...)
	dst = binary.LittleEndian.AppendUint16(dst, h.Version)
	dst = binary.LittleEndian.AppendUint16(dst, h.Flags)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(h.Name)))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(h.Token)))
	dst = append(dst, h.Name...)
	dst = append(dst, h.Token...)
	return finish(dst, from)
}

// ParseHello reads a HELLO. What has another kind or another magic is CodeBadHandshake. The
// version and the flags are the caller's to judge, so that it can answer with its own.
func ParseHello(h frame.Header, body []byte) (v Hello, err error) {
	if h.Kind != frame.Hello {
		return v, Errorf(CodeBadHandshake, "the first frame is %s", KindName(h.Kind))
	}
	if err := check(&h, frame.Hello, 0, body); err != nil {
		return v, err
	}
	if len(body) < helloBytes || string(body[:len(Magic)]) != Magic {
		return v, Errorf(CodeBadHandshake, "HELLO without the magic %q", Magic)
	}
	name := int(binary.LittleEndian.Uint16(body[12:]))
	token := int(binary.LittleEndian.Uint16(body[14:]))
	switch {
	case name > MaxNameBytes:
		return v, bad("HELLO with a name of %d bytes; the limit is %d", name, MaxNameBytes)
	case token > MaxTokenBytes:
		return v, bad("HELLO with a token of %d bytes; the limit is %d", token, MaxTokenBytes)
	case len(body) != helloBytes+name+token:
		return v, bad("HELLO of %d bytes where its lengths add up to %d", len(body),
			helloBytes+name+token)
	case !printable(body[helloBytes : helloBytes+name]):
		return v, bad("HELLO with a name that is not printable ASCII")
	}
	end := helloBytes + name + token
	return Hello{
		Version: binary.LittleEndian.Uint16(body[8:]),
		Flags:   binary.LittleEndian.Uint16(body[10:]),
		Name:    string(body[helloBytes : helloBytes+name]),
		Token:   body[helloBytes+name : end : end],
	}, nil
}

// Welcome is a server's answer to a HELLO that it accepts.
//
//	0   u16  version
//	2   u16  0
//	4   u32  heartbeat, in milliseconds
//	8   u32  longest frame that the server takes, in bytes
//	12  u32  0
//	16  u64  stream
//	24  u64  next sequence
//	32       server's name
type Welcome struct {
	Version uint16
	// HeartbeatMillis is how often the server asks a silent peer for an echo.
	HeartbeatMillis uint32
	// MaxFrameBytes is the longest frame, header included, that the server takes.
	MaxFrameBytes uint32
	// StreamID is random for each start of the server's engine. Sequences of different
	// streams have nothing to do with each other.
	StreamID uint64
	// NextSequence is the sequence of the next message of the stream.
	NextSequence uint64
	// ServerName is for operators: at most MaxNameBytes of printable ASCII.
	ServerName string
}

const welcomeBytes = 32

// AppendWelcome appends w.
func AppendWelcome(dst []byte, w *Welcome) []byte {
	from := len(dst)
	dst = start(dst, frame.Header{Kind: frame.Welcome})
	dst = binary.LittleEndian.AppendUint32(dst, uint32(w.Version))
	dst = binary.LittleEndian.AppendUint32(dst, w.HeartbeatMillis)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(w.MaxFrameBytes))
	dst = binary.LittleEndian.AppendUint64(dst, w.StreamID)
	dst = binary.LittleEndian.AppendUint64(dst, w.NextSequence)
	dst = append(dst, w.ServerName...)
	return finish(dst, from)
}

// ParseWelcome reads a WELCOME.
func ParseWelcome(h frame.Header, body []byte) (v Welcome, err error) {
	if err := check(&h, frame.Welcome, 0, body); err != nil {
		return v, err
	}
	switch {
	case len(body) < welcomeBytes:
		return v, bad("WELCOME of %d bytes; the least is %d", len(body), welcomeBytes)
	case len(body) > welcomeBytes+MaxNameBytes || !printable(body[welcomeBytes:]):
		return v, bad("WELCOME with a name that is no printable ASCII of at most %d bytes",
			MaxNameBytes)
	case binary.LittleEndian.Uint16(body[2:]) != 0, binary.LittleEndian.Uint32(body[12:]) != 0:
		return v, bad("WELCOME with reserved bytes that are not zero")
	}
	return Welcome{
		Version:         binary.LittleEndian.Uint16(body),
		HeartbeatMillis: binary.LittleEndian.Uint32(body[4:]),
		MaxFrameBytes:   binary.LittleEndian.Uint32(body[8:]),
		StreamID:        binary.LittleEndian.Uint64(body[16:]),
		NextSequence:    binary.LittleEndian.Uint64(body[24:]),
		ServerName:      string(body[welcomeBytes:]),
	}, nil
}
