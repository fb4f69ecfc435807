package frame

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

var sample = Header{Length: 37, Kind: Data, Flags: 0x5A, Topic: 0x01020304,
	Publisher: 0x11121314, Sequence: 0x2122232425262728, Time: 0x3132333435363738}

// The bytes are those that doc.go draws.
func TestLayout(t *testing.T) {
	want := []byte{
		37, 0, 0, 0, // length, without padding
		1,    // kind
		0x5A, // flags
		0, 0, // zero
		0x04, 0x03, 0x02, 0x01, // topic
		0x14, 0x13, 0x12, 0x11, // publisher
		0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21, // sequence
		0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, // time
		'h', 'e', 'l', 'l', 'o', 0, 0, 0, // payload and padding
	}
	if got := Append(nil, sample, []byte("hello")); !bytes.Equal(got, want) {
		t.Errorf("got  % x\nwant % x", got, want)
	}
	if got := Get(want); got != sample {
		t.Errorf("got %+v", got)
	}
	put := bytes.Repeat([]byte{0xff}, HeaderBytes+1)
	Put(put, &sample)
	if !bytes.Equal(put[:HeaderBytes], want[:HeaderBytes]) || put[HeaderBytes] != 0xff {
		t.Errorf("put % x", put)
	}
	h, payload, n, err := Parse(want, MaxBytes)
	if err != nil || h != sample || string(payload) != "hello" || n != len(want) {
		t.Errorf("%+v %q %d %v", h, payload, n, err)
	}
	if cap(payload) != len(payload) {
		t.Errorf("the payload's capacity is %d: appending would overwrite", cap(payload))
	}
}

func TestAligned(t *testing.T) {
	for length, want := range map[int]int{0: 0, 1: 8, 7: 8, 8: 8, 9: 16, MaxBytes: MaxBytes} {
		if got := Aligned(length); got != want {
			t.Errorf("%d became %d, want %d", length, got, want)
		}
	}
}

func TestParseEveryTruncation(t *testing.T) {
	for size := range 40 {
		whole := Append(nil, sample, make([]byte, size))
		for n := range whole {
			_, payload, taken, err := Parse(whole[:n:n], MaxBytes)
			if err != ErrShort || payload != nil || taken != 0 {
				t.Fatalf("%d of %d bytes: %v, took %d", n, len(whole), err, taken)
			}
		}
		if _, payload, taken, err := Parse(append(whole, 1, 2, 3), MaxBytes); err != nil ||
			taken != len(whole) || len(payload) != size {
			t.Fatalf("whole: %v, took %d of %d", err, taken, len(whole))
		}
	}
}

func TestParseRefuses(t *testing.T) {
	whole := Append(nil, sample, make([]byte, 68)) // 100 bytes
	edit := func(at int, to byte) []byte {
		b := bytes.Clone(whole)
		b[at] = to
		return b
	}
	for name, c := range map[string]struct {
		b   []byte
		max int
	}{
		"length 31":         {edit(0, 31), MaxBytes},
		"length 0":          {edit(0, 0), MaxBytes},
		"length over max":   {whole, 99},
		"length of 2 GiB":   {edit(3, 0x80), MaxBytes},
		"length of 4 GiB":   {bytes.Repeat([]byte{0xff}, 8), MaxBytes},
		"max of nothing":    {whole, 0},
		"max below nothing": {whole, -1},
		"byte 6":            {edit(6, 1), MaxBytes},
		"byte 7":            {edit(7, 0x80), MaxBytes},
	} {
		for _, b := range [][]byte{c.b, c.b[:8]} { // as soon as eight bytes are there
			if _, _, n, err := Parse(b, c.max); !errors.Is(err, ErrMalformed) || n != 0 {
				t.Errorf("%s, %d bytes: %v, took %d", name, len(b), err, n)
			}
		}
	}
	if _, _, _, err := Parse(whole, 100); err != nil {
		t.Errorf("as long as may be: %v", err)
	}
	var wrong *LengthError
	if _, _, _, err := Parse(whole, 99); !errors.As(err, &wrong) || wrong.Length != 100 ||
		wrong.Max != 99 || wrong.Error() != "frame: length 100 is outside 32 to 99 bytes" {
		t.Errorf("%v", err)
	}
}

// Many frames in a row parse one by one, wherever the bytes were cut.
func TestParseStream(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var whole []byte
	var want []Header
	for i := range 200 {
		h := Header{Kind: Kind(1 + i%12), Flags: uint8(i), Topic: random.Uint32(),
			Publisher: random.Uint32(), Sequence: random.Uint64(), Time: random.Int64()}
		payload := make([]byte, random.IntN(100))
		h.Length = uint32(HeaderBytes + len(payload))
		want = append(want, h)
		whole = Append(whole, h, payload)
	}
	var pending []byte
	for len(whole) > 0 {
		n := min(1+random.IntN(200), len(whole))
		pending = append(pending, whole[:n]...)
		whole = whole[n:]
		for {
			h, _, taken, err := Parse(pending, MaxBytes)
			if err == ErrShort {
				break
			}
			if err != nil || h != want[0] {
				t.Fatalf("%+v, want %+v: %v", h, want[0], err)
			}
			pending, want = pending[taken:], want[1:]
		}
	}
	if len(pending) > 0 || len(want) > 0 {
		t.Errorf("%d bytes and %d frames are left", len(pending), len(want))
	}
}

// FuzzParse: no input makes it panic or answer bytes that are not there, and what it
// parses, appended again, is what it was.
func FuzzParse(f *testing.F) {
	f.Add([]byte(nil), MaxBytes)
	f.Add(Append(nil, sample, []byte("hello")), MaxBytes)
	f.Add(Append(nil, Header{Kind: Goodbye}, nil), HeaderBytes)
	f.Add(bytes.Repeat([]byte{0xff}, 64), -1)
	f.Fuzz(func(t *testing.T, b []byte, maxBytes int) {
		h, payload, n, err := Parse(b, maxBytes)
		if err != nil {
			if n != 0 || payload != nil || !errors.Is(err, ErrShort) && !errors.Is(err, ErrMalformed) {
				t.Fatalf("took %d bytes: %v", n, err)
			}
			return
		}
		if n > len(b) || n%Align != 0 || int(h.Length) > maxBytes || n-int(h.Length) >= Align {
			t.Fatalf("took %d of %d bytes for %+v", n, len(b), h)
		}
		again := Append(nil, h, payload)
		clear(b[h.Length:n]) // padding is not read
		if !bytes.Equal(again, b[:n]) {
			t.Fatalf("% x\nbecame % x", b[:n], again)
		}
	})
}
