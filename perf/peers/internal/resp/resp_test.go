package resp

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// message is a published message as a subscriber gets it.
func message(channel, payload string) string {
	return string(AppendCommand(nil, "message", channel, payload))
}

var valid = []struct {
	in   string
	want string
}{
	{"+OK\r\n", `text "OK"`},
	{"+\r\n", `text ""`},
	{"-ERR unknown command\r\n", `error "ERR unknown command"`},
	{":64\r\n", "64"},
	{":-9223372036854775808\r\n", "-9223372036854775808"},
	{":1234567890123\r\n", "1234567890123"},
	{"$5\r\nhello\r\n", `"hello"`},
	{"$0\r\n\r\n", `""`},
	{"$-1\r\n", "null"},
	{"$12\r\nwith\r\nbreaks\r\n", `"with\r\nbreaks"`},
	{"*0\r\n", "[]"},
	{"*-1\r\n", "null array"},
	{"*3\r\n$9\r\nsubscribe\r\n$4\r\ntest\r\n:1\r\n", `["subscribe" "test" 1]`},
	{message("test", strings.Repeat("x", 20)), `["message" "test" "xxxxxxxxxxxxxxxxxxxx"]`},
	{"*2\r\n+a\r\n-b\r\n", `[text "a" error "b"]`},
}

func show(v Item) string {
	switch {
	case v.Kind == Text:
		return fmt.Sprintf("text %q", v.Bytes)
	case v.Kind == Error:
		return fmt.Sprintf("error %q", v.Bytes)
	case v.Kind == Integer:
		return strconv.FormatInt(v.Integer, 10)
	case v.Bytes == nil:
		return "null"
	}
	return strconv.Quote(string(v.Bytes))
}

func showReply(r *Reply) string {
	if r.Kind != Array {
		return show(r.Item)
	}
	if r.Null {
		return "null array"
	}
	var items []string
	for _, v := range r.Items {
		items = append(items, show(v))
	}
	return "[" + strings.Join(items, " ") + "]"
}

func TestParse(t *testing.T) {
	var r Reply
	for _, c := range valid {
		n, err := Parse([]byte(c.in+"+next\r\n"), &r)
		if err != nil || n != len(c.in) || showReply(&r) != c.want {
			t.Errorf("Parse(%q) = %s, %d, %v; want %s, %d", c.in, showReply(&r), n, err, c.want,
				len(c.in))
		}
	}
}

func TestParseEveryTruncation(t *testing.T) {
	var r Reply
	for _, c := range valid {
		for n := range len(c.in) {
			if used, err := Parse([]byte(c.in[:n]), &r); !errors.Is(err, ErrShort) || used != 0 {
				t.Errorf("Parse(%q) = %d, %v; want ErrShort", c.in[:n], used, err)
			}
		}
	}
}

func TestParseMalformed(t *testing.T) {
	var r Reply
	for _, in := range []string{
		"x", "\r\n", "HTTP/1.1 200 OK\r\n", "+a\nb\r\n", ":\r\n", ":1x\r\n", ":+1\r\n", ": 1\r\n",
		":99999999999999999999\r\n", "$-2\r\n", "$x\r\n", "$1048577\r\n", "$2\r\nabc", "$2\r\nab\rx",
		"*-2\r\n", "*65\r\n", "*1\r\n*0\r\n", "*1\r\nx", "*99999999999999999999\r\n",
		"+" + strings.Repeat("a", maxLine+2), ":" + strings.Repeat("1", 40), ":\n", "$\r\n",
	} {
		if n, err := Parse([]byte(in), &r); !errors.Is(err, ErrMalformed) {
			t.Errorf("Parse(%.40q) = %d, %v; want ErrMalformed", in, n, err)
		}
	}
}

// A stream that is cut anywhere is read as the one that is not.
func TestParseStreamInPieces(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var stream []byte
	var want []string
	for range 200 {
		c := valid[rng.IntN(len(valid))]
		stream, want = append(stream, c.in...), append(want, c.want)
	}
	var got []string
	var r Reply
	var held []byte
	for len(stream) > 0 {
		n := min(1+rng.IntN(30), len(stream))
		held, stream = append(held, stream[:n]...), stream[n:]
		for {
			used, err := Parse(held, &r)
			if errors.Is(err, ErrShort) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got, held = append(got, showReply(&r)), held[used:]
		}
	}
	if !slices.Equal(got, want) || len(held) > 0 {
		t.Errorf("got %d replies and %d bytes, want %d replies", len(got), len(held), len(want))
	}
}

func TestZeroAllocParse(t *testing.T) {
	in := []byte(message("test", strings.Repeat("x", 500)))
	var r Reply
	if allocs := testing.AllocsPerRun(100, func() { _, _ = Parse(in, &r) }); allocs > 0 {
		t.Errorf("%g allocations a message", allocs)
	}
}

func BenchmarkParse(b *testing.B) {
	in := []byte(message("test", strings.Repeat("x", 500)))
	var r Reply
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		_, _ = Parse(in, &r)
	}
}

// append writes a reply as a server would.
func appendItem(dst []byte, v Item) []byte {
	switch v.Kind {
	case Integer:
		return fmt.Appendf(dst, ":%d\r\n", v.Integer)
	case Bulk:
		if v.Bytes == nil {
			return append(dst, "$-1\r\n"...)
		}
		return AppendBulk(dst, v.Bytes)
	}
	return fmt.Appendf(dst, "%c%s\r\n", v.Kind, v.Bytes)
}

func FuzzParse(f *testing.F) {
	for _, c := range valid {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var r, again Reply
		n, err := Parse(in, &r)
		if err != nil {
			if n != 0 || !errors.Is(err, ErrShort) && !errors.Is(err, ErrMalformed) {
				t.Fatalf("Parse = %d, %v", n, err)
			}
			return
		}
		if n < 3 || n > len(in) {
			t.Fatalf("Parse used %d of %d bytes", n, len(in))
		}
		var out []byte
		switch {
		case r.Null:
			out = []byte("*-1\r\n")
		case r.Kind == Array:
			out = AppendArray(nil, len(r.Items))
			for _, v := range r.Items {
				out = appendItem(out, v)
			}
		default:
			out = appendItem(nil, r.Item)
		}
		m, err := Parse(out, &again)
		if err != nil || m != len(out) || showReply(&r) != showReply(&again) {
			t.Fatalf("%q was written as %q: %v", in[:n], out, err)
		}
		if !bytes.Equal(out, in[:n]) && len(out) > n {
			t.Fatalf("%q grew to %q", in[:n], out)
		}
	})
}
