package native

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// parse parses a body by its kind.
func parse(h frame.Header, body []byte) (any, error) {
	switch h.Kind {
	case frame.Data:
		return ParseData(h, body)
	case frame.Publish:
		return ParsePublish(h, body)
	case frame.Topic:
		return ParseTopic(h, body)
	case frame.Subscribe:
		return ParseSubscribe(h, body)
	case frame.Subscribed:
		return ParseSubscribed(h, body)
	case frame.Unsubscribe:
		return ParseUnsubscribe(h, body)
	case frame.Gap:
		return ParseGap(h, body)
	case frame.Heartbeat:
		return ParseHeartbeat(h, body)
	case frame.Error:
		return ParseError(h, body)
	case frame.Goodbye:
		return ParseGoodbye(h, body)
	case frame.Hello:
		return ParseHello(h, body)
	case frame.Welcome:
		return ParseWelcome(h, body)
	}
	return nil, CheckFromClient(h.Kind)
}

// appendAny is the inverse of parse.
func appendAny(dst []byte, v any) []byte {
	switch v := v.(type) {
	case Data:
		return AppendData(dst, &v)
	case Publish:
		return AppendPublish(dst, &v)
	case Topic:
		return AppendTopic(dst, &v)
	case Subscribe:
		return AppendSubscribe(dst, &v)
	case Subscribed:
		return AppendSubscribed(dst, &v)
	case Unsubscribe:
		return AppendUnsubscribe(dst, &v)
	case ring.Gap:
		return AppendGap(dst, v)
	case Heartbeat:
		return AppendHeartbeat(dst, v)
	case *Error:
		return AppendError(dst, v)
	case Goodbye:
		return AppendGoodbye(dst, v)
	case Hello:
		return AppendHello(dst, &v)
	case Welcome:
		return AppendWelcome(dst, &v)
	}
	panic(fmt.Sprintf("no frame holds a %T", v))
}

// examples are the values whose bytes docs/protocol/native.md shows.
var examples = []struct {
	name  string
	value any
}{
	{"hello", Hello{Version: 1, Name: "quotes-1", Token: []byte("s3cret")}},
	{"welcome", Welcome{Version: 1, HeartbeatMillis: 5000, MaxFrameBytes: 262144,
		StreamID: 0x1122334455667788, NextSequence: 1001, ServerName: "fantail"}},
	{"topic", Topic{ID: 7, Name: []byte("eu.xetra.sap")}},
	{"publish", Publish{Alias: 7, Sequence: 1, Payload: []byte("bid 212.40")}},
	{"data", Data{Topic: 3, Publisher: 2, Sequence: 1001, Time: 1_700_000_000_000_000_000,
		Payload: []byte("bid 212.40")}},
	{"subscribe", Subscribe{Request: 1, Pattern: []byte("eu.>"),
		Policy: ring.Policy{Kind: ring.PolicyDropOldest, MaxLag: 1000}}},
	{"subscribe-wait-for", Subscribe{Request: 2, Pattern: []byte("us.>"),
		Policy: ring.Policy{Kind: ring.PolicyWaitFor, For: 50 * time.Millisecond}}},
	{"subscribed", Subscribed{Request: 1, NextSequence: 1001, Pattern: []byte("eu.>")}},
	{"unsubscribe", Unsubscribe{Pattern: []byte("eu.>")}},
	{"gap", ring.Gap{First: 1010, Last: 1019, Count: 4, Reason: ring.GapDropOldest}},
	{"heartbeat", Heartbeat{Sequence: 9}},
	{"heartbeat-reply", Heartbeat{Sequence: 9, Reply: true}},
	{"error", &Error{Code: CodeAuth, Text: "wrong token"}},
	{"goodbye", Goodbye{Reason: CodeShuttingDown}},
}

func TestRoundTrip(t *testing.T) {
	for _, e := range examples {
		b := appendAny([]byte("before"), e.value)[len("before"):]
		if len(b)%frame.Align != 0 {
			t.Errorf("%s: %d bytes are not aligned", e.name, len(b))
		}
		h, body, n, err := frame.Parse(b, frame.MaxBytes)
		if err != nil || n != len(b) {
			t.Fatalf("%s: frame.Parse = %d of %d, %v", e.name, n, len(b), err)
		}
		v, err := parse(h, body)
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		if !reflect.DeepEqual(v, e.value) {
			t.Errorf("%s: got %+v, want %+v", e.name, v, e.value)
		}
		if CheckFromClient(h.Kind) != nil && CheckFromServer(h.Kind) != nil {
			t.Errorf("%s: nobody may send it", e.name)
		}
	}
}

// Every truncation of a frame is short; every truncation of its body, with a length that
// agrees, is refused or is a shorter value that appends to the same bytes.
func TestTruncations(t *testing.T) {
	for _, e := range examples {
		b := appendAny(nil, e.value)
		for n := range b {
			if _, _, _, err := frame.Parse(b[:n:n], frame.MaxBytes); err != frame.ErrShort {
				t.Errorf("%s: %d of %d bytes: %v", e.name, n, len(b), err)
			}
		}
		h, body, _, _ := frame.Parse(b, frame.MaxBytes)
		for n := range body {
			h.Length = uint32(frame.HeaderBytes + n)
			identity(t, h, body[:n:n])
		}
	}
}

// identity checks that what parses is the same bytes when appended.
func identity(t *testing.T, h frame.Header, body []byte) {
	t.Helper()
	v, err := parse(h, body)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.Code == CodeNone {
			t.Fatalf("%+v %x: %v is no Error with a code", h, body, err)
		}
		return
	}
	want := frame.Append(nil, h, body)
	if got := appendAny(nil, v); !bytes.Equal(got, want) {
		t.Fatalf("%+v\ngot  %x\nwant %x", v, got, want)
	}
}

// A length that disagrees with the body is refused whatever the kind.
func TestWrongLength(t *testing.T) {
	for _, e := range examples {
		h, body, _, _ := frame.Parse(appendAny(nil, e.value), frame.MaxBytes)
		for _, length := range []uint32{0, h.Length - 1, h.Length + 1, 0xFFFFFFFF} {
			h.Length = length
			if _, err := parse(h, body); !errors.Is(err, ErrBadFrame) {
				t.Errorf("%s: length %d: %v", e.name, length, err)
			}
		}
	}
}

// Each kind refuses the others' frames, and header fields that it gives no meaning to.
func TestForeignHeader(t *testing.T) {
	for _, e := range examples {
		h, body, _, _ := frame.Parse(appendAny(nil, e.value), frame.MaxBytes)
		for _, change := range map[string]func(h *frame.Header){
			"topic":     func(h *frame.Header) { h.Topic ^= 1 << 30 },
			"publisher": func(h *frame.Header) { h.Publisher ^= 1 },
			"sequence":  func(h *frame.Header) { h.Sequence ^= 1 },
			"time":      func(h *frame.Header) { h.Time ^= 1 },
			"flags":     func(h *frame.Header) { h.Flags ^= 0x80 },
		} {
			changed := h
			change(&changed)
			identity(t, changed, body)
		}
	}
	h := frame.Header{Length: frame.HeaderBytes, Kind: frame.Heartbeat}
	if _, err := ParseGoodbye(h, nil); !errors.Is(err, ErrUnknownKind) {
		t.Errorf("a HEARTBEAT as a GOODBYE: %v", err)
	}
	if _, err := ParseHello(h, nil); !errors.Is(err, ErrBadHandshake) {
		t.Errorf("a HEARTBEAT as the first frame: %v", err)
	}
}

func TestUnknownKind(t *testing.T) {
	for _, k := range []frame.Kind{0, 13, 255} {
		if err := CheckFromClient(k); !errors.Is(err, ErrUnknownKind) {
			t.Errorf("from a client, kind %d: %v", k, err)
		}
		if err := CheckFromServer(k); !errors.Is(err, ErrUnknownKind) {
			t.Errorf("from a server, kind %d: %v", k, err)
		}
	}
	if err := CheckFromClient(frame.Data); !errors.Is(err, ErrUnknownKind) {
		t.Errorf("DATA from a client: %v", err)
	}
	if err := CheckFromServer(frame.Publish); !errors.Is(err, ErrUnknownKind) {
		t.Errorf("PUBLISH from a server: %v", err)
	}
}

// Values over the limits make frames that the peer refuses.
func TestLimits(t *testing.T) {
	long := func(n int) []byte { return bytes.Repeat([]byte("a"), n) }
	for _, v := range []any{
		Hello{Name: string(long(MaxNameBytes + 1))},
		Hello{Name: "line\nfeed"},
		Hello{Token: long(MaxTokenBytes + 1)},
		Hello{Name: string(long(1 << 16))},
		Welcome{ServerName: string(long(MaxNameBytes + 1))},
		Welcome{ServerName: "\x00"},
		Topic{ID: 1},
		Topic{ID: 1, Name: long(MaxTopicBytes + 1)},
		Topic{ID: 0, Name: long(1)},
		Topic{ID: MaxTopicID + 1, Name: long(1)},
		Publish{Alias: 0},
		Data{Topic: 0},
		Subscribe{},
		Subscribe{Pattern: long(MaxPatternBytes + 1)},
		Subscribe{Pattern: long(1), StartSequence: 1},
		Subscribe{Pattern: long(1), Policy: ring.Policy{For: time.Hour + time.Millisecond}},
		Subscribed{},
		Unsubscribe{Pattern: long(MaxPatternBytes + 1)},
		ring.Gap{First: 2, Last: 1, Reason: 1},
		ring.Gap{First: 1, Last: 1},
		ring.Gap{First: 1, Last: 4, Count: 5, Reason: 1},
		Heartbeat{Reply: true},
		&Error{},
	} {
		h, body, _, err := frame.Parse(appendAny(nil, v), frame.MaxBytes)
		if err != nil {
			t.Fatalf("%+v: %v", v, err)
		}
		if got, err := parse(h, body); err == nil {
			t.Errorf("%.100v was accepted as %.100v", v, got)
		}
	}
}

func TestErrorTextIsCleaned(t *testing.T) {
	e := &Error{Code: CodeBadFrame, Text: "\x00é\n" + strings.Repeat("x", MaxTextBytes)}
	h, body, _, _ := frame.Parse(AppendError(nil, e), frame.MaxBytes)
	got, err := ParseError(h, body)
	if err != nil || len(got.Text) != MaxTextBytes || !strings.HasPrefix(got.Text, "????xx") {
		t.Fatalf("%v, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	err := fmt.Errorf("dial: %w", Errorf(CodeAuth, "token %q", "x"))
	if !errors.Is(err, ErrAuth) || errors.Is(err, ErrPolicy) {
		t.Error("errors.Is does not go by the code")
	}
	if got := AsError(err); got.Code != CodeAuth || got.Text != `token "x"` {
		t.Errorf("AsError = %v", got)
	}
	if got := AsError(errors.New("secret path")); got.Code != CodeInternal || got.Text != "" {
		t.Errorf("AsError = %v", got)
	}
	for c := range Code(len(codeNames) + 1) {
		if c.String() == "" {
			t.Errorf("code %d has no name", c)
		}
	}
	if s := Code(999).String(); s != "code 999" {
		t.Error(s)
	}
	if s := (&Error{Code: CodePolicy}).Error(); s != "native: policy not allowed" {
		t.Error(s)
	}
}

// What a peer may send instead of a HELLO is refused from its first 8 bytes.
func TestStrangers(t *testing.T) {
	for _, c := range []struct {
		name, first string
		code        Code
		hint        string
	}{
		{"length 0xFFFFFFFF", "\xff\xff\xff\xff\x0b\x00\x00\x00", CodeFrameTooLarge, ""},
		{"length over the limit", "\x01\x02\x00\x00\x0b\x00\x00\x00", CodeFrameTooLarge, ""},
		{"length 0", "\x00\x00\x00\x00\x0b\x00\x00\x00", CodeBadFrame, ""},
		{"length 31", "\x1f\x00\x00\x00\x0b\x00\x00\x00", CodeBadFrame, ""},
		{"reserved byte 6", "\x40\x00\x00\x00\x0b\x00\x01\x00", CodeBadFrame, ""},
		{"reserved byte 7", "\x40\x00\x00\x00\x0b\x00\x00\x01", CodeBadFrame, ""},
		{"HTTP", "GET / HTTP/1.1\r\n", CodeFrameTooLarge, "HTTP"},
		{"HTTP POST", "POST /x HTTP/1.1\r\n", CodeFrameTooLarge, "HTTP"},
		{"HTTP/2", "PRI * HTTP/2.0\r\n", CodeFrameTooLarge, "HTTP/2"},
		{"HTTP answer", "HTTP/1.1 400 Bad", CodeFrameTooLarge, "HTTP"},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01", CodeFrameTooLarge, "TLS"},
		{"AMQP", "AMQP\x00\x00\x09\x01", CodeFrameTooLarge, "AMQP"},
		{"SSH", "SSH-2.0-OpenSSH", CodeFrameTooLarge, "SSH"},
	} {
		_, _, _, err := frame.Parse([]byte(c.first), MaxHandshakeBytes)
		if e := AsError(err); e.Code != c.code || e.Text == "" {
			t.Errorf("%s: %v", c.name, e)
		}
		hint := Hint([]byte(c.first))
		if c.hint == "" && hint != "" || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: hint %q", c.name, hint)
		}
		if len(hint) > MaxTextBytes || !printable([]byte(hint)) {
			t.Errorf("%s: the hint does not fit an ERROR", c.name)
		}
	}
	hello := AppendHello(nil, &Hello{Version: Version})
	if Hint(hello) != "" {
		t.Error("a HELLO is taken for something else")
	}
	hello[frame.HeaderBytes] ^= 1
	h, body, _, _ := frame.Parse(hello, MaxHandshakeBytes)
	if _, err := ParseHello(h, body); !errors.Is(err, ErrBadHandshake) {
		t.Errorf("another magic: %v", err)
	}
}

func TestZeroAllocMessages(t *testing.T) {
	buffer := make([]byte, 0, 256)
	payload := []byte("bid 212.40")
	n := testing.AllocsPerRun(100, func() {
		b := AppendPublish(buffer, &Publish{Alias: 1, Sequence: 1, Payload: payload})
		h, body, _, _ := frame.Parse(b, frame.MaxBytes)
		if p, err := ParsePublish(h, body); err != nil || len(p.Payload) != len(payload) {
			t.Fatal(p, err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCheckTopic(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "eu.xetra.sap": true, "a-b_c/d:e+f@g#h$i=j~k!": true,
		strings.Repeat("a", MaxTopicBytes): true, strings.Repeat("a.", 31) + "a": true,
		"": false, ".": false, ".a": false, "a.": false, "a..b": false, "a.*": false,
		">": false, "a b": false, "a\x00": false, "é": false, "a\\b": false,
		strings.Repeat("a", MaxTopicBytes+1): false, strings.Repeat("a.", 32) + "a": false,
	} {
		if err := CheckTopic(name); ok != (err == nil) || !ok && !errors.Is(err, ErrTopicName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
