package perf

import (
	"context"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/netio/client"
	"github.com/fantail-io/fantail/perf/load"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/ring"
)

// waitPolicy loses nothing.
var waitPolicy = ring.Policy{Kind: ring.PolicyWait}

// topicSubscriber is the subscribers' tool: one process, many subscribers.
type topicSubscriber struct {
	config  TopicConfig
	name    string
	client  *client.Client
	answers *client.Publisher
	group   *client.Group
	pattern *load.Pattern // made when the first message says how long they are
	all     []*topicState
	of      map[*client.Subscription]*topicState
	last    *client.Subscription
	current *topicState
	open    int // subscribers that wait for the end
	began   time.Time
	err     error
}

// topicState is one subscriber.
type topicState struct {
	which    int
	tracker  *load.Tracker
	sequence uint64
	rises    uint64 // sequences that did not
	gaps     uint64
	missing  uint64
	ended    bool
}

// TopicSubscribe is Many subscribers of a running server, until they have seen the END of a
// round, or for ever.
func TopicSubscribe(ctx context.Context, c TopicConfig) error {
	if err := c.check(); err != nil {
		return err
	}
	c.Many = max(1, c.Many)
	t := &topicSubscriber{config: c, name: processName(),
		of: make(map[*client.Subscription]*topicState)}
	var err error
	if t.client, err = client.Dial(ctx, c.Server, client.Config{Token: c.Token}); err != nil {
		return fmt.Errorf("perf: %w", err)
	}
	defer t.client.Close()
	if t.group, err = client.NewGroup(client.GroupConfig{}); err != nil {
		return fmt.Errorf("perf: %w", err)
	}
	defer t.group.Close()
	if err := t.subscribe(ctx); err != nil {
		return err
	}
	roll, err := t.client.Subscribe(ctx, rollTopic, client.SubscribeOptions{Policy: waitPolicy})
	if err != nil {
		return fmt.Errorf("perf: subscribe: %w", err)
	}
	if err := t.group.Add(roll); err != nil {
		return fmt.Errorf("perf: subscribe: %w", err)
	}
	take := t.take
	for round := 1; ; round++ {
		t.reset()
		c.Say("%d subscribers wait for messages", c.Many)
		for t.open > 0 {
			if _, err := t.group.Poll(ctx, take); err != nil {
				return fmt.Errorf("perf: poll: %w", err)
			}
			if t.err != nil {
				return t.err
			}
		}
		if err := t.client.Flush(ctx); err != nil {
			return fmt.Errorf("perf: answer: %w", err)
		}
		t.conclude()
		if c.Once {
			return nil
		}
	}
}

func (t *topicSubscriber) subscribe(ctx context.Context) error {
	var err error
	if t.answers, err = t.client.Publisher(answerTopic); err != nil {
		return fmt.Errorf("perf: publisher: %w", err)
	}
	add := func(pattern string, state *topicState) error {
		s, err := t.client.Subscribe(ctx, pattern,
			client.SubscribeOptions{Policy: t.config.Policy})
		if err != nil {
			return fmt.Errorf("perf: subscribe: %w", err)
		}
		t.of[s] = state
		if err := t.group.Add(s); err != nil {
			return fmt.Errorf("perf: subscribe: %w", err)
		}
		return nil
	}
	for i := range t.config.Many {
		state := &topicState{which: i + 1}
		t.all = append(t.all, state)
		if err := add(topicName, state); err != nil {
			return err
		}
	}
	for i := range t.config.Topics {
		if err := add(fmt.Sprintf("%s%d", loadTopic, i), nil); err != nil {
			return err
		}
	}
	return nil
}

// reset makes everybody wait for message 1 again.
func (t *topicSubscriber) reset() {
	for _, s := range t.all {
		*s = topicState{which: s.which, sequence: s.sequence}
	}
	t.open, t.began = len(t.all), time.Time{}
}

// take looks at one message; it answers the publisher where that is due.
func (t *topicSubscriber) take(s *client.Subscription, m *client.Message) {
	if s != t.last {
		t.last, t.current = s, t.of[s]
	}
	sub := t.current
	switch {
	case sub == nil:
		if m.Topic() == rollTopic && !m.IsGap() {
			t.answer(&answer{Kind: "here", Many: len(t.all)})
		}
		return
	case m.IsGap():
		sub.gaps++
		sub.missing += m.Gap.Count
		return
	case len(m.Payload) == 0:
		t.end(sub)
		return
	}
	if m.Sequence <= sub.sequence {
		sub.rises++
	}
	sub.sequence = m.Sequence
	if sub.tracker == nil {
		t.first(sub, len(m.Payload))
	}
	sub.tracker.See(m.Payload)
}

// first takes the size of a round's messages from its first one.
func (t *topicSubscriber) first(sub *topicState, size int) {
	if t.pattern == nil || t.pattern.Size() != size {
		t.pattern = load.NewPattern(size)
	}
	if t.began.IsZero() {
		t.began = time.Now()
	}
	sub.tracker = load.NewTracker(t.pattern)
}

// end answers the END of a round.
func (t *topicSubscriber) end(sub *topicState) {
	if sub.ended {
		return
	}
	sub.ended = true
	t.open--
	c := sub.counts()
	t.answer(&answer{Kind: "end", Which: sub.which, Received: c.Received, Lost: c.Lost,
		Gaps: c.Gaps, Corrupt: c.Corrupt, Repeated: c.Repeated + c.Sequences})
}

func (s *topicState) counts() load.Counts {
	var c load.Counts
	if s.tracker != nil {
		c = s.tracker.Counts()
	}
	c.Gaps, c.GapCount, c.Sequences = s.gaps, s.missing, s.rises
	return c
}

func (t *topicSubscriber) answer(a *answer) {
	a.Process = t.name
	// There is next to nothing to send, so there is room; and a connection that fails shows
	// in Flush.
	if err := t.answers.Publish(a.bytes()); err != nil && t.err == nil {
		t.err = fmt.Errorf("perf: answer: %w", err)
	}
}

// conclude says what a round came to.
func (t *topicSubscriber) conclude() {
	var sum load.Counts
	for _, s := range t.all {
		sum.Add(s.counts())
	}
	took := 0.0
	if !t.began.IsZero() {
		took = time.Since(t.began).Seconds()
	}
	t.config.Say("%d messages received in %.3f s: %s/s; %d lost, %d gaps, %d corrupt, %d repeated",
		sum.Received, took, report.Rate(per(float64(sum.Received), took)), sum.Lost, sum.Gaps,
		sum.Corrupt, sum.Repeated+sum.Sequences)
}
