package native

// Limits of the protocol. Configurations may be narrower, and never wider.
const (
	// MaxTokenBytes bounds the secret of a HELLO.
	MaxTokenBytes = 256
	// MaxNameBytes bounds the name of a client or a server: printable ASCII.
	MaxNameBytes = 64
	// MaxTopicBytes bounds a topic's name.
	MaxTopicBytes = 255
	// MaxPatternBytes bounds a subscription's pattern.
	MaxPatternBytes = 255
	// MaxTopicID is the largest topic number; the smallest is 1.
	MaxTopicID = 1<<24 - 1
	// MaxTextBytes bounds an ERROR's text: printable ASCII.
	MaxTextBytes = 512
	// MaxForMillis bounds how long a WaitFor policy may ask for: 1 h.
	MaxForMillis = 3_600_000
	// MaxHandshakeBytes is the longest HELLO or WELCOME, header included. Before the
	// handshake is over no frame may be longer.
	MaxHandshakeBytes = 512
)
