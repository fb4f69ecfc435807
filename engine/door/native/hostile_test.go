package native

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// innocent is a pair that must not notice an attack: everything that is published while it
// watches comes, in order.
func innocent(t *testing.T, l *Listener, during func()) {
	t.Helper()
	sub, pub := dial(t, l), dial(t, l)
	sub.subscribe("innocent", ring.Policy{Kind: ring.PolicyWait})
	pub.send(native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte("innocent")}))
	publish := func(n uint64) {
		pub.send(native.AppendPublish(nil, &native.Publish{Alias: 1, Sequence: n, Payload: []byte(fmt.Sprint(n))}))
	}
	publish(1)
	during()
	publish(2)
	for want := 1; want <= 2; {
		h, body := sub.next()
		if h.Kind == frame.Topic || h.Kind == frame.Heartbeat {
			continue
		}
		if h.Kind != frame.Data || string(body) != fmt.Sprint(want) {
			t.Fatalf("frame %+v %q, want message %d", h, body, want)
		}
		want++
	}
}

// A01, A03, A19, A26: bytes that no client may send, before and after the handshake.
func TestBadBytesEndTheirSessionOnly(t *testing.T) {
	l := listen(t, testEngine(t), Config{MaxTopics: 100, MaxSubscriptions: 3})
	header := func(length uint32, kind frame.Kind) []byte {
		b := make([]byte, frame.HeaderBytes)
		frame.Put(b, &frame.Header{Length: length, Kind: kind})
		return b
	}
	subscribe := func(pattern string, p ring.Policy) []byte {
		return native.AppendSubscribe(nil, &native.Subscribe{Request: 1, Pattern: []byte(pattern), Policy: p})
	}
	for _, c := range []struct {
		name  string
		after bool // the handshake
		bytes []byte
		want  native.Code
	}{
		{"length 0xFFFFFFFF first", false, header(0xFFFFFFFF, frame.Hello), native.CodeFrameTooLarge},
		{"length 0 first", false, header(0, frame.Hello), native.CodeBadFrame},
		{"handshake too large", false, header(4096, frame.Hello), native.CodeFrameTooLarge},
		{"publish first", false, native.AppendPublish(nil, &native.Publish{Alias: 1}), native.CodeBadHandshake},
		{"subscribe first", false, subscribe(">", ring.Policy{}), native.CodeBadHandshake},
		{"HTTP", false, []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), native.CodeBadHandshake},
		{"TLS", false, []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("x", 64)), native.CodeBadHandshake},
		{"MQTT ack", false, []byte("\x40\x02\x00\x01\x00\x00\x00\x00"), native.CodeFrameTooLarge},
		{"another version", false, native.AppendHello(nil, &native.Hello{Version: 99}), native.CodeVersion},
		{"length 0xFFFFFFFF", true, header(0xFFFFFFFF, frame.Publish), native.CodeFrameTooLarge},
		{"length 31", true, header(31, frame.Publish), native.CodeBadFrame},
		{"length 2^31", true, header(1<<31, frame.Publish), native.CodeFrameTooLarge},
		{"unknown kind", true, header(32, 200), native.CodeUnknownKind},
		{"server's kind", true, header(32, frame.Data), native.CodeUnknownKind},
		{"second hello", true, native.AppendHello(nil, &native.Hello{Version: native.Version}), native.CodeBadHandshake},
		{"unknown alias", true, native.AppendPublish(nil, &native.Publish{Alias: 5, Payload: []byte("x")}), native.CodeUnknownTopic},
		{"alias over the limit", true, native.AppendTopic(nil, &native.Topic{ID: 101, Name: []byte("a")}), native.CodeTooManyTopics},
		{"alias with two topics", true, append(native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte("a")}),
			native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte("b")})...), native.CodeTopicName},
		{"wildcard topic", true, native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte("a.*")}), native.CodeTopicName},
		{"NUL in a topic", true, native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte("a\x00b")}), native.CodeTopicName},
		{"path in a topic", true, native.AppendTopic(nil, &native.Topic{ID: 1, Name: []byte("../../etc")}), native.CodeTopicName},
		{"newline in a pattern", true, subscribe("a\nb", ring.Policy{}), native.CodeTopicName},
		{"> inside a pattern", true, subscribe("a.>.b", ring.Policy{}), native.CodeTopicName},
		{"policy 99", true, subscribe("a", ring.Policy{Kind: 99}), native.CodePolicy},
		{"spill", true, subscribe("a", ring.Policy{Kind: ring.PolicySpill}), native.CodeNotSupported},
		{"four patterns", true, append(append(append(subscribe("a", ring.Policy{}), subscribe("b", ring.Policy{})...),
			subscribe("c", ring.Policy{})...), subscribe("d", ring.Policy{})...), native.CodeTooManySubscriptions},
		{"two policies", true, append(subscribe("a", ring.Policy{Kind: ring.PolicyWait}),
			subscribe("b", ring.Policy{Kind: ring.PolicyConflate})...), native.CodePolicy},
	} {
		t.Run(c.name, func(t *testing.T) {
			innocent(t, l, func() {
				var p *peer
				if c.after {
					p = dial(t, l)
				} else {
					p = connect(t, l)
				}
				p.send(c.bytes)
				p.refused(c.want)
			})
		})
	}
	if got := l.Snapshot().Rejected[native.CodeUnknownKind.String()]; got != 2 {
		t.Errorf("%d sessions rejected for an unknown kind, want 2", got)
	}
}

func TestPoliciesCanBeForbidden(t *testing.T) {
	l := listen(t, testEngine(t), Config{
		Policies: []ring.PolicyKind{ring.PolicyDropOldest, ring.PolicyConflate}})
	for kind, allowed := range map[ring.PolicyKind]bool{ring.PolicyDefault: true,
		ring.PolicyConflate: true, ring.PolicyWait: false, ring.PolicyDisconnect: false} {
		p := dial(t, l)
		if allowed {
			p.subscribe("a", ring.Policy{Kind: kind})
			continue
		}
		p.send(native.AppendSubscribe(nil, &native.Subscribe{Request: 1, Pattern: []byte("a"),
			Policy: ring.Policy{Kind: kind}}))
		p.refused(native.CodePolicy)
	}
}

// A04: bytes that trickle in do not renew the handshake's deadline.
func TestSlowLorisIsCutOff(t *testing.T) {
	l := listen(t, testEngine(t), Config{HandshakeTimeout: 150 * time.Millisecond})
	innocent(t, l, func() {
		p := connect(t, l)
		hello := native.AppendHello(nil, &native.Hello{Version: native.Version})
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; i < len(hello)-1; i++ {
			if _, err := p.nc.Write(hello[i : i+1]); err != nil {
				break // closed, as it must be, before the HELLO is whole
			}
			<-tick.C
		}
		p.refused(native.CodeHandshakeTimeout)
	})
}

func TestSilenceIsAskedAndThenCutOff(t *testing.T) {
	l := listen(t, testEngine(t), Config{HeartbeatEvery: 50 * time.Millisecond, IdleTimeout: 200 * time.Millisecond})
	p := dial(t, l)
	h, body := p.next()
	if b, err := native.ParseHeartbeat(h, body); err != nil || b.Sequence == 0 || b.Reply {
		t.Errorf("%+v: %v", b, err)
	}
	p.refused(native.CodeIdleTimeout)
}

func TestTokenIsAskedFor(t *testing.T) {
	l := listen(t, testEngine(t), Config{Token: []byte("secret")})
	for _, token := range []string{"", "secre", "secrets", "Secret"} {
		p := connect(t, l)
		p.send(native.AppendHello(nil, &native.Hello{Version: native.Version, Token: []byte(token)}))
		p.refused(native.CodeAuth)
	}
	p := connect(t, l)
	p.send(native.AppendHello(nil, &native.Hello{Version: native.Version, Token: []byte("secret")}))
	if h, _ := p.next(); h.Kind != frame.Welcome {
		t.Errorf("%+v", h)
	}
}

// A07: one connection too many is told so.
func TestConnectionsAreCounted(t *testing.T) {
	l := listen(t, testEngine(t), Config{MaxConnections: 10, MaxPerAddress: 4})
	var open []*peer
	for range 4 {
		open = append(open, dial(t, l))
	}
	connect(t, l).refused(native.CodeTooManyConnections)
	open[0].nc.Close()
	for l.Snapshot().Open > 3 { // each Snapshot waits for a turn of the shard
	}
	dial(t, l)
}
