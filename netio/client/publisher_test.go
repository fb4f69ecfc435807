package client

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring/frame"
)

// published is a PUBLISH as a server sees it.
type published struct {
	topic    string
	sequence uint64
	payload  string
}

// publishing reads TOPIC and PUBLISH frames, and echoes heartbeats, until the end.
func (p *peer) publishing(each func(published)) {
	topics := make(map[uint32]string)
	for {
		h, body, ok := p.next()
		if !ok {
			return
		}
		switch h.Kind {
		case frame.Topic:
			tp, err := native.ParseTopic(h, body)
			if err != nil || topics[tp.ID] != "" {
				p.t.Errorf("TOPIC %d %q again, %v", tp.ID, tp.Name, err)
			}
			topics[tp.ID] = string(tp.Name)
		case frame.Publish:
			m, err := native.ParsePublish(h, body)
			if err != nil || topics[m.Alias] == "" || m.Time != 0 {
				p.t.Errorf("PUBLISH %+v, %v", m, err)
			}
			each(published{topics[m.Alias], m.Sequence, string(m.Payload)})
		case frame.Heartbeat:
			p.echo(h)
		case frame.Goodbye:
			return
		default:
			p.t.Errorf("%s from a publisher", native.KindName(h.Kind))
		}
	}
}

// keeper is the script of a publishing connection that keeps what it gets.
type keeper struct {
	mu  sync.Mutex
	all []published
}

func (k *keeper) script(p *peer) {
	p.welcome(streamID)
	p.publishing(func(m published) {
		k.mu.Lock()
		k.all = append(k.all, m)
		k.mu.Unlock()
	})
}

func (k *keeper) take() []published {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.all
	k.all = nil
	return all
}

func publisherTest(t testing.TB, c *Client, topic string) *Publisher {
	t.Helper()
	p, err := c.Publisher(topic)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPublishAndFlush(t *testing.T) {
	var k keeper
	c := dialTest(t, serve(t, k.script), Config{})
	a, b, again := publisherTest(t, c, "a"), publisherTest(t, c, "b"), publisherTest(t, c, "a")
	for i, p := range []*Publisher{a, b, again} {
		if err := p.Publish([]byte(fmt.Sprint("m", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Flush(patient(t)); err != nil {
		t.Fatal(err)
	}
	want := []published{{"a", 1, "m0"}, {"b", 1, "m1"}, {"a", 2, "m2"}}
	if all := k.take(); !reflect.DeepEqual(all, want) {
		t.Errorf("%v", all)
	}
	if st := c.Stats(); st.Published != 3 || st.Confirmed != 3 || st.Batches == 0 {
		t.Errorf("%+v", st)
	}
	if a.Topic() != "a" {
		t.Error(a.Topic())
	}
}

// A message leaves at once: nobody has to flush.
func TestPublishLeavesAtOnce(t *testing.T) {
	arrived := make(chan published)
	c := dialTest(t, serve(t, func(p *peer) {
		p.welcome(streamID)
		p.publishing(func(m published) { arrived <- m })
	}), Config{})
	p := publisherTest(t, c, "a")
	for i := range uint64(10) {
		if err := p.Publish(nil); err != nil {
			t.Fatal(err)
		}
		select {
		case m := <-arrived:
			if m.sequence != i+1 {
				t.Errorf("%+v", m)
			}
		case <-patient(t).Done():
			t.Fatal("nothing arrived")
		}
	}
}

// Close sends what was published.
func TestCloseSendsTheRest(t *testing.T) {
	var k keeper
	c := dialTest(t, serve(t, k.script), Config{})
	p := publisherTest(t, c, "a")
	const messages = 5000
	for range messages {
		if err := p.PublishContext(patient(t), make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	all := k.take()
	if len(all) != messages || all[messages-1].sequence != messages {
		t.Errorf("%d messages", len(all))
	}
	if err := p.Publish(nil); err != ErrClosed {
		t.Error(err)
	}
	if err := p.PublishContext(patient(t), nil); err != ErrClosed {
		t.Error(err)
	}
	if err := c.Flush(patient(t)); err != ErrClosed {
		t.Error(err)
	}
	if _, err := c.Publisher("b"); err != ErrClosed {
		t.Error(err)
	}
}

func TestPublisherNames(t *testing.T) {
	c := dialTest(t, serve(t, control), Config{})
	for _, name := range []string{"", "a..b", "a.*", strings.Repeat("x", 256)} {
		if _, err := c.Publisher(name); !errors.Is(err, native.ErrTopicName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	p := publisherTest(t, c, "a")
	p.Close()
	p.Close()
	if err := p.Publish(nil); err != ErrClosed {
		t.Error(err)
	}
}

func TestTooLarge(t *testing.T) {
	var k keeper
	c := dialTest(t, serve(t, k.script), Config{BatchBytes: 1 << 10})
	p := publisherTest(t, c, "a")
	if err := p.Publish(make([]byte, c.MaxPayload()+1)); err != ErrTooLarge {
		t.Error(err)
	}
	if err := p.PublishContext(patient(t), make([]byte, c.MaxPayload())); err != nil {
		t.Error(err) // longer than a batch, and a batch of its own
	}
	if err := p.PublishContext(patient(t), []byte("after")); err != nil {
		t.Error(err)
	}
	if err := c.Flush(patient(t)); err != nil {
		t.Error(err)
	}
	if all := k.take(); len(all) != 2 || len(all[0].payload) != c.MaxPayload() {
		t.Errorf("%d messages", len(all))
	}
}

// A server that does not read is back pressure, at once or as a wait, and nothing is lost.
func TestBackPressure(t *testing.T) {
	read := make(chan struct{})
	var k keeper
	c := dialTest(t, serve(t, func(p *peer) {
		p.welcome(streamID)
		<-read
		p.publishing(func(m published) { k.all = append(k.all, m) })
	}), Config{BatchBytes: 4 << 10})
	p := publisherTest(t, c, "a")
	payload := make([]byte, 3000)
	published := uint64(0)
	var err error
	for err == nil { // until the kernel's buffers are full too
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		for p.PublishContext(ctx, payload) == nil {
			published++
		}
		if err = p.Publish(payload); err == nil {
			published++
		}
		cancel()
	}
	if err != ErrBackPressure {
		t.Fatal(err)
	}
	waiting := make(chan error)
	for range 3 {
		go func() { waiting <- p.PublishContext(patient(t), payload) }()
	}
	close(read)
	for range 3 {
		if err := <-waiting; err != nil {
			t.Error(err)
		}
	}
	if err := c.Flush(patient(t)); err != nil {
		t.Error(err)
	}
	st := c.Stats()
	if st.Published != published+3 || st.Confirmed != st.Published || len(k.all) != int(published)+3 {
		t.Errorf("%+v, %d accepted, %d arrived", st, published+3, len(k.all))
	}
}
