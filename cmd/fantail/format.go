package main

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fantail-io/fantail/netio/client"
)

// format is how messages are printed, each with the line end. A nil function prints nothing.
type format struct {
	message func(dst []byte, m *client.Message) []byte
	gap     func(dst []byte, g client.Gap) []byte
}

var formats = map[string]format{
	"text": {message: appendText},
	"raw":  {message: appendRaw},
	"json": {message: appendJSON, gap: appendGapJSON},
	"none": {},
}

// timeLayout is RFC 3339 with all nanoseconds, so that columns stay columns.
const timeLayout = "2006-01-02T15:04:05.000000000Z07:00"

func appendText(dst []byte, m *client.Message) []byte {
	dst = appendEscaped(dst, m.Topic())
	dst = append(dst, ' ')
	dst = strconv.AppendUint(dst, m.Sequence, 10)
	dst = append(dst, ' ')
	dst = time.Unix(0, m.Time).UTC().AppendFormat(dst, timeLayout)
	dst = append(dst, ' ')
	dst = appendEscaped(dst, m.Payload)
	return append(dst, '\n')
}

// appendEscaped appends s with everything that is not printable, and the backslash, as Go
// writes it in strings: what a stranger publishes must not drive a terminal.
func appendEscaped[S string | []byte](dst []byte, s S) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c <= '~' && c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		switch {
		case r == utf8.RuneError && size == 1:
			const digits = "0123456789abcdef"
			dst = append(dst, '\\', 'x', digits[c>>4], digits[c&15])
		case r != '\\' && unicode.IsPrint(r):
			dst = utf8.AppendRune(dst, r)
		default:
			quoted := strconv.AppendQuoteRune(nil, r)
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
		i += size
	}
	return dst
}

func appendRaw(dst []byte, m *client.Message) []byte {
	return append(append(dst, m.Payload...), '\n')
}

// messageJSON is a message as --format json writes it.
type messageJSON struct {
	Topic    string  `json:"topic"`
	Sequence uint64  `json:"sequence"`
	Time     string  `json:"time"`
	Payload  *string `json:"payload,omitempty"`
	Base64   *string `json:"payload_base64,omitempty"`
}

func appendJSON(dst []byte, m *client.Message) []byte {
	v := messageJSON{Topic: m.Topic(), Sequence: m.Sequence,
		Time: time.Unix(0, m.Time).UTC().Format(timeLayout)}
	text := string(m.Payload)
	if utf8.Valid(m.Payload) {
		v.Payload = &text
	} else {
		text = base64.StdEncoding.EncodeToString(m.Payload)
		v.Base64 = &text
	}
	return appendValue(dst, v)
}

// gapJSON is a gap as --format json writes it.
type gapJSON struct {
	Gap struct {
		First  uint64 `json:"first"`
		Last   uint64 `json:"last"`
		Count  uint64 `json:"count"`
		Reason string `json:"reason"`
	} `json:"gap"`
}

func appendGapJSON(dst []byte, g client.Gap) []byte {
	var v gapJSON
	v.Gap.First, v.Gap.Last, v.Gap.Count, v.Gap.Reason = g.First, g.Last, g.Count,
		g.Reason.String()
	return appendValue(dst, v)
}

func appendValue(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("fantail: json: " + err.Error()) // a bug: strings and numbers always marshal
	}
	return append(append(dst, b...), '\n')
}
