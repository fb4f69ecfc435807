package ringtest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

const (
	// MinPayload is the shortest payload, in bytes: one without fill.
	MinPayload = headerBytes + crcBytes

	headerBytes = 40
	crcBytes    = 4
	magic       = 0x31505446 // "FTP1"
)

// Offsets of a payload's fields.
const (
	atMagic     = 0
	atBytes     = 4
	atPublisher = 8
	atTopic     = 12
	atSequence  = 16
	atSent      = 24
	atSeed      = 32
	atHeaderCRC = 36
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Payload is what a payload says of itself.
type Payload struct {
	Publisher, Topic uint32
	Sequence         uint64 // the publisher's own, from 1, without holes
	SentNanos        int64  // when it was sent, or should have been: ns since the Unix epoch
	Bytes            int    // of the whole payload: at least MinPayload, at most 2 GiB - 1
	Seed             uint32 // of the fill
}

// PayloadError is the first thing that is wrong with a payload.
type PayloadError struct {
	What      string // "magic", "bytes", "header crc", "fill" or "crc"
	Offset    int    // in bytes, of what differs
	Want, Got uint64
	Payload   Payload // as its header has it, where that is right; else zero
}

func (e *PayloadError) Error() string {
	text := fmt.Sprintf("ringtest: %s at offset %d: want 0x%x, got 0x%x", e.What, e.Offset,
		e.Want, e.Got)
	if e.Payload.Bytes > 0 {
		text += fmt.Sprintf(", in sequence %d of publisher %d, %d bytes", e.Payload.Sequence,
			e.Payload.Publisher, e.Payload.Bytes)
	}
	return text
}

// AppendPayload appends the payload that p describes: p.Bytes bytes. It panics where
// p.Bytes is out of bounds. It allocates only to make dst longer.
func AppendPayload(dst []byte, p Payload) []byte {
	if p.Bytes < MinPayload || p.Bytes > math.MaxInt32 {
		panic(fmt.Sprintf("ringtest: a payload of %d bytes", p.Bytes))
	}
	start := len(dst)
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, magic)
	dst = le.AppendUint32(dst, uint32(p.Bytes))
	dst = le.AppendUint32(dst, p.Publisher)
	dst = le.AppendUint32(dst, p.Topic)
	dst = le.AppendUint64(dst, p.Sequence)
	dst = le.AppendUint64(dst, uint64(p.SentNanos))
	dst = le.AppendUint32(dst, p.Seed)
	dst = le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
	fill := newFill(p)
	left := p.Bytes - MinPayload
	for ; left >= 8; left -= 8 {
		dst = le.AppendUint64(dst, fill.next())
	}
	for word := fill.next(); left > 0; left-- {
		dst = append(dst, byte(word))
		word >>= 8
	}
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// CheckPayload checks every byte of b, which is one whole payload, and answers what it
// says. The error is a *PayloadError. It allocates nothing where there is none.
func CheckPayload(b []byte) (Payload, error) {
	le := binary.LittleEndian
	if len(b) < MinPayload {
		return Payload{}, &PayloadError{What: "bytes", Offset: len(b), Want: MinPayload,
			Got: uint64(len(b))}
	}
	if got := le.Uint32(b); got != magic {
		return Payload{}, &PayloadError{What: "magic", Offset: atMagic, Want: magic,
			Got: uint64(got)}
	}
	if got := le.Uint32(b[atBytes:]); uint64(got) != uint64(len(b)) {
		return Payload{}, &PayloadError{What: "bytes", Offset: atBytes, Want: uint64(len(b)),
			Got: uint64(got)}
	}
	want, got := crc32.Checksum(b[:atHeaderCRC], castagnoli), le.Uint32(b[atHeaderCRC:])
	if want != got {
		return Payload{}, &PayloadError{What: "header crc", Offset: atHeaderCRC,
			Want: uint64(want), Got: uint64(got)}
	}
	p := Payload{
		Publisher: le.Uint32(b[atPublisher:]),
		Topic:     le.Uint32(b[atTopic:]),
		Sequence:  le.Uint64(b[atSequence:]),
		SentNanos: int64(le.Uint64(b[atSent:])),
		Bytes:     len(b),
		Seed:      le.Uint32(b[atSeed:]),
	}
	end := len(b) - crcBytes
	if err := checkFill(b[headerBytes:end], p); err != nil {
		return Payload{}, err
	}
	want, got = crc32.Checksum(b[:end], castagnoli), le.Uint32(b[end:])
	if want != got {
		return Payload{}, &PayloadError{What: "crc", Offset: end, Want: uint64(want),
			Got: uint64(got), Payload: p}
	}
	return p, nil
}

func checkFill(b []byte, p Payload) error {
	fill := newFill(p)
	for at := 0; at < len(b); at += 8 {
		word := fill.next()
		if len(b)-at >= 8 && binary.LittleEndian.Uint64(b[at:]) == word {
			continue
		}
		for i, got := range b[at:min(at+8, len(b))] {
			if want := byte(word >> (8 * i)); got != want {
				return &PayloadError{What: "fill", Offset: headerBytes + at + i,
					Want: uint64(want), Got: uint64(got), Payload: p}
			}
		}
	}
	return nil
}

// fill makes the words of a fill: splitmix64.
type fill struct{ state uint64 }

func newFill(p Payload) fill {
	return fill{p.Sequence*0x9fb21c651e98df25 ^ uint64(p.Publisher)<<32 ^ uint64(p.Seed)}
}

func (f *fill) next() uint64 {
	f.state += 0x9e3779b97f4a7c15
	z := f.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
