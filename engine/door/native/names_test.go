package native

import (
	"strings"
	"testing"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring/frame"
)

// A19: a length that is cut off at every byte waits for the rest, and never hangs others.
func TestTruncatedAtEveryByte(t *testing.T) {
	l := listen(t, testEngine(t), Config{})
	p := startPair(t, l, 1)
	session := native.AppendHello(nil, &native.Hello{Version: native.Version})
	session = native.AppendTopic(session, &native.Topic{ID: 1, Name: []byte("cut")})
	session = native.AppendPublish(session, &native.Publish{Alias: 1, Payload: []byte("payload")})
	session = native.AppendSubscribe(session, &native.Subscribe{Request: 1, Pattern: []byte("other.>")})
	session = native.AppendHeartbeat(session, native.Heartbeat{Sequence: 1})
	step := 1
	if raceEnabled {
		step = 5
	}
	for n := 0; n < len(session); n += step {
		c := connect(t, l)
		c.send(session[:n])
		if err := c.nc.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		for {
			h, _, err := c.read()
			if err != nil {
				break
			}
			if h.Kind == frame.Error {
				t.Errorf("cut at %d of %d: ERROR", n, len(session))
			}
		}
		c.nc.Close()
	}
	p.finish()
	openConnections(t, l, 0)
}

// A26: names of every kind. What is refused ends its session; what is taken is a topic.
func TestNamesOfEveryKind(t *testing.T) {
	l := listen(t, testEngine(t), Config{})
	p := startPair(t, l, 1)
	for _, c := range []struct {
		name string
		ok   bool
	}{
		{"a", true}, {"md.equities.AAPL", true}, {strings.Repeat("x", 255), true},
		{"", false}, {strings.Repeat("x", 256), false}, {strings.Repeat("x", 60_000), false},
		{".", false}, {"a.", false}, {".a", false}, {"a..b", false}, {">", false}, {"a.>", false},
		{"a b", false}, {"a\tb", false}, {"a\r\nb", false}, {"a\x7fb", false}, {"a\x00", false},
		{"../x", false}, {"\xc0\xaf", false}, {"\xff\xfe", false},
	} {
		for _, subscribe := range []bool{false, true} {
			q := dial(t, l)
			if subscribe {
				if strings.HasSuffix(c.name, ">") {
					continue // a pattern, though no name
				}
				q.send(native.AppendSubscribe(nil, &native.Subscribe{Request: 1, Pattern: []byte(c.name)}))
			} else {
				q.send(native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte(c.name)}))
			}
			if c.ok {
				q.sync()
			} else {
				q.refused(native.CodeTopicName)
			}
			q.nc.Close()
		}
	}
	p.finish()
}
