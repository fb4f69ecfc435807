package resp

import (
	"bytes"
	"errors"
	"strconv"
)

// Limits of a reply.
const (
	// MaxBulk bounds one string: 1 MiB.
	MaxBulk = 1 << 20
	// MaxItems bounds an array.
	MaxItems = 64
	// maxLine bounds a line that carries a text.
	maxLine = 1 << 12
	// maxNumber bounds a line that carries a number: a sign and 19 digits.
	maxNumber = 20
)

// Errors of Parse.
var (
	ErrShort     = errors.New("resp: more bytes needed")
	ErrMalformed = errors.New("resp: malformed")
)

// Kind is a reply's first byte.
type Kind byte

// The kinds of reply.
const (
	Text    Kind = '+'
	Error   Kind = '-'
	Integer Kind = ':'
	Bulk    Kind = '$'
	Array   Kind = '*'
)

// Item is a reply that is no array.
type Item struct {
	Kind    Kind
	Bytes   []byte // of a text, error or bulk; nil for the null bulk
	Integer int64
}

// Reply is what Parse reads: an Item, or an array of them.
type Reply struct {
	Item
	// Items are an array's.
	Items []Item
	// Null says that an array is the null array.
	Null bool
}

// Parse reads the reply at the start of b into r and returns the bytes that it occupies.
func Parse(b []byte, r *Reply) (n int, err error) {
	r.Items, r.Null = r.Items[:0], false
	if len(b) == 0 {
		return 0, ErrShort
	}
	if Kind(b[0]) != Array {
		r.Item, n, err = parseItem(b)
		return n, err
	}
	count, n, err := parseNumber(b[1:])
	if err != nil {
		return 0, err
	}
	if count < -1 || count > MaxItems {
		return 0, ErrMalformed
	}
	n++
	r.Item, r.Null = Item{Kind: Array}, count < 0
	for range count {
		item, used, err := parseItem(b[n:])
		if err != nil {
			return 0, err
		}
		r.Items = append(r.Items, item)
		n += used
	}
	return n, nil
}

func parseItem(b []byte) (v Item, n int, err error) {
	if len(b) == 0 {
		return v, 0, ErrShort
	}
	v.Kind = Kind(b[0])
	switch v.Kind {
	case Bulk:
		return parseBulk(b)
	case Integer:
		v.Integer, n, err = parseNumber(b[1:])
	case Text, Error:
		v.Bytes, n, err = parseLine(b[1:], maxLine)
	default:
		return v, 0, ErrMalformed
	}
	if err != nil {
		return v, 0, err
	}
	return v, n + 1, nil
}

func parseBulk(b []byte) (v Item, n int, err error) {
	length, n, err := parseNumber(b[1:])
	if err != nil {
		return v, 0, err
	}
	n++
	v.Kind = Bulk
	if length == -1 {
		return v, n, nil
	}
	if length < 0 || length > MaxBulk {
		return v, 0, ErrMalformed
	}
	end := n + int(length)
	if len(b) > end && b[end] != '\r' || len(b) > end+1 && b[end+1] != '\n' {
		return v, 0, ErrMalformed
	}
	if len(b) < end+2 {
		return v, 0, ErrShort
	}
	v.Bytes = b[n:end:end]
	return v, end + 2, nil
}

// parseLine reads up to and with the line's end; n counts that in.
func parseLine(b []byte, limit int) (line []byte, n int, err error) {
	end := bytes.IndexByte(b[:min(len(b), limit+2)], '\n')
	switch {
	case end < 0 && len(b) >= limit+2:
		return nil, 0, ErrMalformed
	case end < 0:
		return nil, 0, ErrShort
	case end == 0 || b[end-1] != '\r':
		return nil, 0, ErrMalformed
	}
	return b[: end-1 : end-1], end + 1, nil
}

// parseNumber reads a line that is a number. Short ones, which lengths are, take no call.
func parseNumber(b []byte) (v int64, n int, err error) {
	for i, c := range b[:min(len(b), 8)] {
		switch {
		case c >= '0' && c <= '9':
			v = v*10 + int64(c-'0')
		case c == '\r' && i > 0 && i+1 < len(b) && b[i+1] == '\n':
			return v, i + 2, nil
		default:
			return parseLongNumber(b)
		}
	}
	return parseLongNumber(b)
}

func parseLongNumber(b []byte) (v int64, n int, err error) {
	line, n, err := parseLine(b, maxNumber)
	if err != nil {
		return 0, 0, err
	}
	if len(line) > 0 && line[0] == '+' {
		return 0, 0, ErrMalformed
	}
	v, err = strconv.ParseInt(string(line), 10, 64)
	if err != nil {
		return 0, 0, ErrMalformed
	}
	return v, n, nil
}

// AppendCommand appends a command, as an array of bulk strings, to dst.
func AppendCommand(dst []byte, words ...string) []byte {
	dst = AppendArray(dst, len(words))
	for _, w := range words {
		dst = AppendBulk(dst, w)
	}
	return dst
}

// AppendArray appends an array's first line; its items follow.
func AppendArray(dst []byte, items int) []byte {
	return append(strconv.AppendInt(append(dst, byte(Array)), int64(items), 10), "\r\n"...)
}

// AppendBulk appends a bulk string.
func AppendBulk[S string | []byte](dst []byte, s S) []byte {
	dst = strconv.AppendInt(append(dst, byte(Bulk)), int64(len(s)), 10)
	dst = append(dst, "\r\n"...)
	return append(append(dst, s...), "\r\n"...)
}
