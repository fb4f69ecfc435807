package load

import "encoding/binary"

// MinBytes is the smallest payload: its four fields.
const MinBytes = 20

// MaxBytes is the largest payload that every peer takes by default.
const MaxBytes = 512 << 10

// Topic is what everything is published on; every peer takes it as it is.
const Topic = "test"

// NewPayload makes a payload of that many bytes, at least MinBytes, with its fill.
func NewPayload(payloadBytes int) []byte {
	b := make([]byte, max(payloadBytes, MinBytes))
	for i := range b {
		b[i] = byte('a' + i%26)
	}
	return b
}

// Put writes a message's fields into b.
func Put(b []byte, remaining, sequence uint32, due int64) {
	binary.BigEndian.PutUint32(b, remaining)
	binary.BigEndian.PutUint32(b[4:], sequence)
	binary.BigEndian.PutUint64(b[8:], uint64(due))
	binary.BigEndian.PutUint32(b[len(b)-4:], sequence)
}
