package native

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"math/bits"
	"slices"
	"time"

	"github.com/fantail-io/fantail/engine/topic"
	"github.com/fantail-io/fantail/netio"
	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// session is one connection's side of the protocol: bytes and ticks in, calls of the engine
// and of the connection out. It lives on its shard's goroutine.
type session struct {
	listener *Listener
	shard    *shard
	conn     *netio.Conn
	address  string // whose MaxPerAddress it counts against

	welcomed  bool
	opened    int64 // nanoseconds
	heard     int64 // when bytes last came
	asked     int64 // when it was last asked whether it is there
	beats     uint64
	publisher uint32
	aliases   []uint32 // by the client's alias: the engine's topic
	named     []uint64 // a bit for each of the engine's topics that the client knows
	patterns  map[string]topic.Pattern
	last      uint64 // sequence of the last message that it published
}

// errGoodbye ends a session that said so itself.
var errGoodbye = errors.New("native: the client said goodbye")

// Receive implements netio.Session.
func (s *session) Receive(b []byte) (n int, err error) {
	s.heard = s.listener.engine.Now()
	limit := s.listener.config.MaxFrameBytes
	if !s.welcomed {
		limit = native.MaxHandshakeBytes
	}
	for n < len(b) {
		h, body, size, err := frame.Parse(b[n:], limit)
		if err == frame.ErrShort {
			return n, nil
		}
		if err == nil {
			err = s.handle(h, body)
		} else if !s.welcomed {
			if hint := native.Hint(b); hint != "" {
				err = native.Errorf(native.CodeBadHandshake, "%s", hint)
			}
		}
		switch {
		case err == nil:
		case err == ring.ErrBackPressure:
			return n, err
		case err == errGoodbye:
			return n, err
		default:
			return n, s.refuse(err)
		}
		n += size
		limit = s.listener.config.MaxFrameBytes
	}
	return n, nil
}

// refuse tells the peer why its session ends.
func (s *session) refuse(err error) error {
	e := native.AsError(err)
	s.listener.reject(e.Code)
	s.conn.Stage(func(dst []byte) []byte { return native.AppendError(dst, e) })
	return e
}

func (s *session) handle(h frame.Header, body []byte) error {
	if h.Kind == frame.Publish && s.welcomed {
		return s.publish(&h, body)
	}
	if !s.welcomed {
		return s.hello(h, body)
	}
	if err := native.CheckFromClient(h.Kind); err != nil {
		return err
	}
	switch h.Kind {
	case frame.Topic:
		return s.declare(h, body)
	case frame.Subscribe:
		return s.subscribe(h, body)
	case frame.Unsubscribe:
		return s.unsubscribe(h, body)
	case frame.Heartbeat:
		return s.heartbeat(h, body)
	case frame.Goodbye:
		if _, err := native.ParseGoodbye(h, body); err != nil {
			return err
		}
		return errGoodbye
	case frame.Error:
		e, err := native.ParseError(h, body)
		if err != nil {
			return err
		}
		s.listener.log.Info("native: a client reports an error", "remote", s.address, "error", e)
		return errGoodbye
	}
	return native.Errorf(native.CodeBadHandshake, "a second HELLO")
}

// hello checks the first frame and answers it.
func (s *session) hello(h frame.Header, body []byte) error {
	hello, err := native.ParseHello(h, body)
	if err != nil {
		return err
	}
	l := s.listener
	switch {
	case hello.Version != native.Version:
		return native.Errorf(native.CodeVersion, "version %d; this server speaks %d",
			hello.Version, native.Version)
	case hello.Flags != 0:
		return native.Errorf(native.CodeNotSupported, "HELLO with flags %#x", hello.Flags)
	case len(l.config.Token) > 0 && !sameSecret(hello.Token, l.config.Token):
		return native.Errorf(native.CodeAuth, "wrong or missing token")
	}
	s.welcomed = true
	s.conn.SetName(hello.Name)
	s.publisher = l.engine.PublisherNumber()
	s.conn.Stage(func(dst []byte) []byte {
		return native.AppendWelcome(dst, &native.Welcome{Version: native.Version,
			HeartbeatMillis: uint32(l.config.HeartbeatEvery.Milliseconds()),
			MaxFrameBytes:   uint32(l.config.MaxFrameBytes),
			StreamID:        l.engine.StreamID(), NextSequence: l.engine.Stream().Tail(),
			ServerName: "fantail"})
	})
	return nil
}

// sameSecret compares in a time that tells nothing about where the two differ, or how long
// the secret is.
func sameSecret(a, b []byte) bool {
	x, y := sha256.Sum256(a), sha256.Sum256(b)
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// publish copies a message into the stream. It comes again after ErrBackPressure.
func (s *session) publish(h *frame.Header, payload []byte) error {
	if uint(h.Topic) >= uint(len(s.aliases)) || s.aliases[h.Topic] == 0 {
		return native.Errorf(native.CodeUnknownTopic, "PUBLISH on alias %d, which no TOPIC named",
			h.Topic)
	}
	if h.Flags != 0 || h.Publisher != 0 {
		return native.Errorf(native.CodeBadFrame, "PUBLISH with a header field that it does not use")
	}
	at := h.Time
	if at == 0 {
		at = s.heard
	}
	sequence, err := s.shard.stream.Publish(s.aliases[h.Topic], s.publisher, at, payload)
	switch err {
	case nil:
		s.last = sequence
		s.shard.published.Inc()
		s.shard.publishedBytes.Add(uint64(len(payload)))
		return nil
	case ring.ErrBackPressure:
		s.shard.refused.Inc()
		return err
	case ring.ErrTooLarge:
		return native.Errorf(native.CodeFrameTooLarge, "%d bytes are over the limit of %d",
			len(payload), s.listener.engine.MaxPayload())
	}
	return native.Errorf(native.CodeShuttingDown, "the engine takes no more messages")
}

// declare gives one of the client's numbers a topic.
func (s *session) declare(h frame.Header, body []byte) error {
	t, err := native.ParseTopic(h, body)
	if err != nil {
		return err
	}
	if uint(t.ID) > uint(s.listener.config.MaxTopics) {
		return native.Errorf(native.CodeTooManyTopics, "alias %d is over the limit of %d", t.ID,
			s.listener.config.MaxTopics)
	}
	number, err := s.listener.engine.Topics().Intern(string(t.Name))
	switch {
	case errors.Is(err, topic.ErrTooManyTopics):
		return native.Errorf(native.CodeTooManyTopics, "the server has no room for more topics")
	case err != nil:
		return native.Errorf(native.CodeTopicName, "%v", err)
	}
	for int(t.ID) >= len(s.aliases) {
		s.aliases = append(s.aliases, 0)
	}
	if old := s.aliases[t.ID]; old != 0 && old != number {
		return native.Errorf(native.CodeTopicName, "alias %d has another topic already", t.ID)
	}
	s.aliases[t.ID] = number
	return nil
}

func (s *session) subscribe(h frame.Header, body []byte) error {
	sub, err := native.ParseSubscribe(h, body)
	if err != nil {
		return err
	}
	config := &s.listener.config
	if sub.Start != native.StartLive {
		return native.Errorf(native.CodeNotSupported, "start %d: this server has no journal",
			sub.Start)
	}
	pattern, err := topic.ParsePattern(string(sub.Pattern))
	if err != nil {
		return native.Errorf(native.CodeTopicName, "%v", err)
	}
	if len(s.patterns) >= config.MaxSubscriptions {
		return native.Errorf(native.CodeTooManySubscriptions, "the limit is %d a connection",
			config.MaxSubscriptions)
	}
	policy := sub.Policy
	if policy.Kind == ring.PolicyDefault {
		policy = config.DefaultPolicy
	}
	if len(config.Policies) > 0 && !slices.Contains(config.Policies, policy.Kind) {
		return native.Errorf(native.CodePolicy, "this server does not allow %v; it allows %v",
			policy.Kind, config.Policies)
	}
	if err := policy.Check(); err != nil {
		code := native.CodePolicy
		if errors.Is(err, ring.ErrNotSupported) {
			code = native.CodeNotSupported
		}
		return native.Errorf(code, "%v", err)
	}
	switch {
	case s.patterns == nil:
		s.patterns = make(map[string]topic.Pattern)
		s.conn.Subscribe(policy)
	case sub.Policy.Kind != ring.PolicyDefault && !samePolicy(policy, s.conn.Policy()):
		return native.Errorf(native.CodePolicy, "this connection's policy is %v already",
			s.conn.Policy().Kind)
	}
	s.patterns[pattern.String()] = pattern
	s.shard.routes.Add(pattern, s.conn)
	next := s.shard.netio.Next()
	s.conn.Stage(func(dst []byte) []byte {
		return native.AppendSubscribed(dst, &native.Subscribed{Request: sub.Request,
			NextSequence: next, Pattern: sub.Pattern})
	})
	return nil
}

func samePolicy(a, b ring.Policy) bool {
	if a.MaxLag == 0 {
		a.MaxLag = b.MaxLag
	}
	return a == b
}

func (s *session) unsubscribe(h frame.Header, body []byte) error {
	u, err := native.ParseUnsubscribe(h, body)
	if err != nil {
		return err
	}
	pattern, ok := s.patterns[string(u.Pattern)]
	if !ok {
		return native.Errorf(native.CodeTopicName, "UNSUBSCRIBE of a pattern that is not subscribed")
	}
	delete(s.patterns, string(u.Pattern))
	s.shard.routes.Remove(pattern, s.conn)
	return nil
}

func (s *session) heartbeat(h frame.Header, body []byte) error {
	b, err := native.ParseHeartbeat(h, body)
	if err != nil || b.Reply || b.Sequence == 0 {
		return err
	}
	s.conn.Stage(func(dst []byte) []byte {
		return native.AppendHeartbeat(dst, native.Heartbeat{Sequence: b.Sequence, Reply: true})
	})
	return nil
}

// name tells the client a topic's name, once.
func (s *session) name(number uint32) {
	word, bit := int(number)/64, uint64(1)<<(number%64)
	if word >= len(s.named) {
		grown := make([]uint64, 1<<bits.Len(uint(word)))
		copy(grown, s.named)
		s.named = grown
	}
	if s.named[word]&bit != 0 {
		return
	}
	s.named[word] |= bit
	s.conn.Stage(func(dst []byte) []byte {
		return native.AppendTopic(dst, &native.Topic{ID: number,
			Name: []byte(s.listener.engine.Topics().Name(number))})
	})
}

// Tick implements netio.Session.
func (s *session) Tick(int64) error {
	config := &s.listener.config
	now := s.listener.engine.Now() // the clock of opened and heard, which is never set
	if !s.welcomed {
		if now-s.opened >= int64(config.HandshakeTimeout) {
			return s.refuse(native.Errorf(native.CodeHandshakeTimeout,
				"no whole HELLO within %v", config.HandshakeTimeout))
		}
		return nil
	}
	silent := now - s.heard
	switch {
	case silent >= int64(config.IdleTimeout):
		return s.refuse(native.Errorf(native.CodeIdleTimeout, "nothing came for %v",
			time.Duration(silent).Round(time.Millisecond)))
	case silent >= int64(config.HeartbeatEvery) && now-s.asked >= int64(config.HeartbeatEvery):
		s.asked = now
		s.beats++
		s.conn.Stage(func(dst []byte) []byte {
			return native.AppendHeartbeat(dst, native.Heartbeat{Sequence: s.beats})
		})
	}
	return nil
}

// Slow implements netio.Session.
func (s *session) Slow() {
	_ = s.refuse(native.Errorf(native.CodeSlowConsumer, "more than %d messages behind",
		s.conn.Policy().MaxLag))
}

// AppendGap implements netio.Session.
func (s *session) AppendGap(dst []byte, g ring.Gap) []byte { return native.AppendGap(dst, g) }

// Closed implements netio.Session.
func (s *session) Closed(why error) {
	for _, p := range s.patterns {
		s.shard.routes.Remove(p, s.conn)
	}
	delete(s.shard.sessions, s.conn)
	s.listener.left(s.address)
}
