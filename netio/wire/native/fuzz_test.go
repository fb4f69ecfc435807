package native

import (
	"errors"
	"testing"

	"github.com/fantail-io/fantail/ring/frame"
)

// fuzz feeds bytes as a frame of that kind: whatever they are, Parse does not panic, and
// what it accepts is the same bytes when appended.
func fuzz(f *testing.F, kind frame.Kind) {
	for _, e := range examples {
		if b := appendAny(nil, e.value); frame.Kind(b[4]) == kind {
			f.Add(b)
		}
	}
	f.Add(frame.Append(nil, frame.Header{Kind: kind}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, body, n, err := frame.Parse(b, frame.MaxBytes)
		if err != nil {
			if AsError(err).Code == CodeInternal && !errors.Is(err, frame.ErrShort) {
				t.Fatalf("no code for %v", err)
			}
			return
		}
		if n > len(b) || len(body)+frame.HeaderBytes != int(h.Length) {
			t.Fatalf("%d bytes of %d, body %d, length %d", n, len(b), len(body), h.Length)
		}
		h.Kind = kind
		identity(t, h, body)
	})
}

func FuzzParseData(f *testing.F)        { fuzz(f, frame.Data) }
func FuzzParsePublish(f *testing.F)     { fuzz(f, frame.Publish) }
func FuzzParseTopic(f *testing.F)       { fuzz(f, frame.Topic) }
func FuzzParseSubscribe(f *testing.F)   { fuzz(f, frame.Subscribe) }
func FuzzParseSubscribed(f *testing.F)  { fuzz(f, frame.Subscribed) }
func FuzzParseUnsubscribe(f *testing.F) { fuzz(f, frame.Unsubscribe) }
func FuzzParseGap(f *testing.F)         { fuzz(f, frame.Gap) }
func FuzzParseHeartbeat(f *testing.F)   { fuzz(f, frame.Heartbeat) }
func FuzzParseError(f *testing.F)       { fuzz(f, frame.Error) }
func FuzzParseGoodbye(f *testing.F)     { fuzz(f, frame.Goodbye) }
func FuzzParseHello(f *testing.F)       { fuzz(f, frame.Hello) }
func FuzzParseWelcome(f *testing.F)     { fuzz(f, frame.Welcome) }

// FuzzParse feeds bytes as whatever kind they say.
func FuzzParse(f *testing.F) {
	for _, e := range examples {
		f.Add(appendAny(nil, e.value))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		Hint(b)
		if h, body, _, err := frame.Parse(b, MaxHandshakeBytes); err == nil {
			identity(t, h, body)
		}
	})
}
