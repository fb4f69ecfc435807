package ringtest

import (
	"errors"
	"strings"
	"testing"
)

func somePayload(size int) Payload {
	return Payload{Publisher: 7, Topic: 9, Sequence: 123_456_789_012, SentNanos: -5, Bytes: size,
		Seed: 0xfeedbeef}
}

func TestPayloadRoundTrip(t *testing.T) {
	for size := MinPayload; size < MinPayload+40; size++ {
		want := somePayload(size)
		b := AppendPayload([]byte("before"), want)
		if string(b[:6]) != "before" || len(b) != 6+size {
			t.Fatalf("%d bytes were appended, want %d", len(b)-6, size)
		}
		if got, err := CheckPayload(b[6:]); err != nil || got != want {
			t.Fatalf("%+v, %v, want %+v", got, err, want)
		}
	}
}

// TestPayloadCorruptionIsFound flips every bit of payloads, one at a time.
func TestPayloadCorruptionIsFound(t *testing.T) {
	for _, size := range []int{MinPayload, MinPayload + 1, MinPayload + 8, 203} {
		b := AppendPayload(nil, somePayload(size))
		for i := range b {
			for bit := range 8 {
				b[i] ^= 1 << bit
				_, err := CheckPayload(b)
				b[i] ^= 1 << bit
				var e *PayloadError
				if !errors.As(err, &e) {
					t.Fatalf("%d bytes: bit %d of byte %d: %v", size, bit, i, err)
				}
				if want := region(i, size); e.What != want {
					t.Errorf("%d bytes: byte %d is said to be in %s, not %s", size, i, e.What, want)
				}
				if e.What == "fill" && (e.Offset != i || e.Want != uint64(b[i]) ||
					e.Got != uint64(b[i]^1<<bit)) {
					t.Errorf("%d bytes: byte %d, 0x%x: %v", size, i, b[i], err)
				}
			}
		}
	}
}

// region is what has byte i of a payload.
func region(i, size int) string {
	switch {
	case i < atBytes:
		return "magic"
	case i < atPublisher:
		return "bytes"
	case i < headerBytes:
		return "header crc"
	case i < size-crcBytes:
		return "fill"
	}
	return "crc"
}

func TestPayloadTruncationIsFound(t *testing.T) {
	b := AppendPayload(nil, somePayload(100))
	for n := range b {
		if _, err := CheckPayload(b[:n]); err == nil {
			t.Errorf("%d bytes of 100 pass", n)
		}
	}
	if _, err := CheckPayload(append(b, 0)); err == nil {
		t.Error("101 bytes of 100 pass")
	}
}

// TestPayloadTornIsFound puts the end of one message behind the beginning of another.
func TestPayloadTornIsFound(t *testing.T) {
	p := somePayload(200)
	q := p
	q.Sequence++
	a, b := AppendPayload(nil, p), AppendPayload(nil, q)
	for n := range a {
		torn := append(a[:n:n], b[n:]...)
		if _, err := CheckPayload(torn); err == nil && n > atSequence {
			t.Errorf("torn at byte %d, it passes", n)
		}
	}
}

func TestPayloadErrorSaysEverything(t *testing.T) {
	b := AppendPayload(nil, somePayload(64))
	b[50] ^= 0xff
	_, err := CheckPayload(b)
	for _, part := range []string{"fill at offset 50", "sequence 123456789012 of publisher 7",
		"64 bytes"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %s", err, part)
		}
	}
}

func TestPayloadOutOfBoundsPanics(t *testing.T) {
	for _, size := range []int{-1, 0, MinPayload - 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a payload of %d bytes was appended", size)
				}
			}()
			AppendPayload(nil, Payload{Bytes: size})
		}()
	}
}

func FuzzCheckPayload(f *testing.F) {
	f.Add(AppendPayload(nil, somePayload(64)))
	f.Add([]byte("FTP1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := CheckPayload(b)
		if err == nil && string(AppendPayload(nil, p)) != string(b) {
			t.Errorf("%+v passes, and is not what AppendPayload makes", p)
		}
	})
}

func BenchmarkPayload(b *testing.B) {
	p := somePayload(500)
	buffer := AppendPayload(nil, p)
	b.Run("append/size=500", func(b *testing.B) {
		for b.Loop() {
			buffer = AppendPayload(buffer[:0], p)
		}
	})
	b.Run("check/size=500", func(b *testing.B) {
		for b.Loop() {
			if _, err := CheckPayload(buffer); err != nil {
				b.Fatal(err)
			}
		}
	})
}
