package ceiling

import (
	"fmt"
	"time"

	"github.com/fantail-io/fantail/perf/usage"
	"github.com/fantail-io/fantail/ring/frame"
)

// ReaderJob is the kind of the child that Run starts: its job is Read.
const ReaderJob = "ceiling-reader"

// Config says what is sent, and to how many.
type Config struct {
	// Subscribers is the number of sockets: 1 to 10,000. Zero: 64.
	Subscribers int
	// PayloadBytes is what one message carries: 0 to 1 MiB less a header. With the header and
	// the padding it makes a frame, and frames are what is counted.
	PayloadBytes int
	// WriteBytes is what one write offers: 512 B to 16 MiB. Zero: as many whole TCP segments
	// as fit 64 KiB. A write that ends in the middle of a segment costs up to a fifth more:
	// on loopback the segment is 65,483 bytes, and 64 KiB are one and a crumb.
	WriteBytes int
	// Duration is how long the sender writes: up to 1 h. Zero: 1.5 s.
	Duration time.Duration
}

const (
	maxSubscribers = 10_000
	minWriteBytes  = 512
	maxWriteBytes  = 16 << 20
	// unitBytes is the write that is looked for where none is asked for.
	unitBytes = 64 << 10
	// readBytes is what the reader asks for: less costs throughput, more gains none.
	readBytes = 256 << 10
	// connectTimeout bounds the time until every socket is connected.
	connectTimeout = 20 * time.Second
)

func (c Config) withDefaults() (Config, error) {
	if c.Subscribers == 0 {
		c.Subscribers = 64
	}
	if c.WriteBytes == 0 {
		c.WriteBytes = unitBytes
	}
	if c.Duration == 0 {
		c.Duration = 1500 * time.Millisecond
	}
	switch {
	case c.Subscribers < 1 || c.Subscribers > maxSubscribers:
		return c, fmt.Errorf("ceiling: %d subscribers are outside 1 to %d", c.Subscribers,
			maxSubscribers)
	case c.PayloadBytes < 0 || c.PayloadBytes > frame.MaxBytes-frame.HeaderBytes:
		return c, fmt.Errorf("ceiling: a payload of %d bytes is outside 0 to %d",
			c.PayloadBytes, frame.MaxBytes-frame.HeaderBytes)
	case c.WriteBytes < minWriteBytes || c.WriteBytes > maxWriteBytes:
		return c, fmt.Errorf("ceiling: writes of %d bytes are outside %d to %d", c.WriteBytes,
			minWriteBytes, maxWriteBytes)
	case c.Duration < 0 || c.Duration > time.Hour:
		return c, fmt.Errorf("ceiling: %v is outside 0 to 1h", c.Duration)
	}
	return c, nil
}

// frameBytes is what one message occupies on the wire.
func (c Config) frameBytes() int { return frame.Aligned(frame.HeaderBytes + c.PayloadBytes) }

// Result is what came through.
type Result struct {
	Subscribers  int     `json:"subscribers"`
	PayloadBytes int     `json:"size"`
	WriteBytes   int     `json:"write_bytes"`
	Seconds      float64 `json:"seconds"` // from the first byte read to the last
	Bytes        uint64  `json:"bytes"`
	Deliveries   float64 `json:"deliveries"` // in frames
	PerSecond    float64 `json:"delivered_per_s"`
	Writes       uint64  `json:"writes"`
	Reads        uint64  `json:"reads"`
	// Full counts writes that were refused or cut because a socket was full.
	Full    uint64      `json:"full"`
	Waits   uint64      `json:"waits"` // for room, by the sender
	Server  usage.Delta `json:"server"`
	Readers usage.Delta `json:"subscribers_usage"`
}

// readerConfig is what the child is told.
type readerConfig struct {
	Address string
	Sockets int
}

// readerResult is what the child answers.
type readerResult struct {
	Seconds float64
	Bytes   uint64
	Reads   uint64
	Usage   usage.Delta
}

// buffer answers frames that a write of c.WriteBytes can start anywhere in the first period
// bytes of. Frames are what a stream holds: headers, numbered, and payloads that are not
// all zeros.
func (c Config) buffer() (b []byte, period int) {
	payload := make([]byte, c.PayloadBytes)
	for i := range payload {
		payload[i] = byte(i*131 + 7)
	}
	count := max(1, (c.WriteBytes+c.frameBytes()-1)/c.frameBytes())
	period = count * c.frameBytes()
	b = make([]byte, 0, period+c.WriteBytes)
	for i := range count {
		b = frame.Append(b, frame.Header{Kind: frame.Data, Sequence: uint64(i + 1)}, payload)
	}
	for len(b) < period+c.WriteBytes {
		b = append(b, b[:min(period, period+c.WriteBytes-len(b))]...)
	}
	return b, period
}
