package load

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

const (
	// StampedBytes is the smallest payload that PutStamped can write.
	StampedBytes = 16
	// CountdownBytes is the smallest payload that PutCountdown can write.
	CountdownBytes = 4
	numberBytes    = 8
	// windows is how many places a body can start at in the template: neighbours in a run of
	// so many messages have different bodies.
	windows = 256
)

// Pattern makes and checks payloads of one size.
type Pattern struct {
	size     int
	template []byte
}

// NewPattern answers the pattern of payloads of size bytes: 0 or more.
func NewPattern(size int) *Pattern {
	p := &Pattern{size: size, template: make([]byte, size+windows)}
	r := rand.New(rand.NewPCG(0x46616e74, uint64(size))) // the same in every process
	for i := range p.template {
		p.template[i] = byte(r.Uint32())
	}
	return p
}

// Size is the payloads' size in bytes.
func (p *Pattern) Size() int { return p.size }

// body is what message n has after a head.
func (p *Pattern) body(n uint64, head int) []byte {
	at := int(n % windows)
	return p.template[at : at+p.size-head]
}

// Put writes the payload of message n into b, which must be Size long.
func (p *Pattern) Put(b []byte, n uint64) {
	if len(b) < numberBytes {
		putLow(b, n)
		return
	}
	binary.LittleEndian.PutUint64(b, n)
	copy(b[numberBytes:], p.body(n, numberBytes))
}

// Check reports whether b is, to the last byte, the payload of message n.
func (p *Pattern) Check(b []byte, n uint64) bool {
	if len(b) != p.size {
		return false
	}
	if len(b) < numberBytes {
		return low(b) == n&(1<<(8*len(b))-1)
	}
	return binary.LittleEndian.Uint64(b) == n &&
		bytes.Equal(b[numberBytes:], p.body(n, numberBytes))
}

// Number is which message b says that it is; 0 where it is too short to say.
func Number(b []byte) uint64 {
	if len(b) < numberBytes {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// PutStamped is Put of a payload that also says when it was due; Size must be 16 or more.
func (p *Pattern) PutStamped(b []byte, n uint64, due int64) {
	binary.LittleEndian.PutUint64(b, n)
	binary.LittleEndian.PutUint64(b[numberBytes:], uint64(due))
	copy(b[StampedBytes:], p.body(n, StampedBytes))
}

// CheckStamped is Check for PutStamped, and answers when the message was due.
func (p *Pattern) CheckStamped(b []byte, n uint64) (due int64, ok bool) {
	if len(b) != p.size || len(b) < StampedBytes {
		return 0, false
	}
	due = int64(binary.LittleEndian.Uint64(b[numberBytes:]))
	return due, binary.LittleEndian.Uint64(b) == n &&
		bytes.Equal(b[StampedBytes:], p.body(n, StampedBytes))
}

// PutCountdown writes a payload that says how many messages are left, itself included, as
// the AMS benchmark does. Size must be 4 or more.
func (p *Pattern) PutCountdown(b []byte, left uint32) {
	binary.BigEndian.PutUint32(b, left)
	copy(b[CountdownBytes:], p.body(uint64(left), CountdownBytes))
}

// CheckCountdown is Check for PutCountdown.
func (p *Pattern) CheckCountdown(b []byte, left uint32) bool {
	return len(b) == p.size && len(b) >= CountdownBytes &&
		binary.BigEndian.Uint32(b) == left &&
		bytes.Equal(b[CountdownBytes:], p.body(uint64(left), CountdownBytes))
}

// Countdown is how many messages b says are left; 0 where it is too short to say.
func Countdown(b []byte) uint32 {
	if len(b) < CountdownBytes {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

func putLow(b []byte, n uint64) {
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
}

func low(b []byte) uint64 {
	var n uint64
	for i, v := range b {
		n |= uint64(v) << (8 * i)
	}
	return n
}
