package perf

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/netio/client"
	"github.com/fantail-io/fantail/perf/load"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/perf/usage"
)

// ErrNoAnswer says that subscribers did not answer in time.
var ErrNoAnswer = errors.New("perf: subscribers did not answer")

// topicPublisher is the publisher's tool.
type topicPublisher struct {
	config  TopicConfig
	target  *remote
	roll    *client.Publisher
	answers *client.Subscription
	pattern *load.Pattern
	clock   load.Clock
}

// TopicPublish publishes rounds of messages to the subscribers of a running server, says END
// to them, and waits for their answers.
func TopicPublish(ctx context.Context, c TopicConfig) error {
	if err := c.check(); err != nil {
		return err
	}
	p := &topicPublisher{config: c, pattern: load.NewPattern(c.Size), clock: load.NewClock()}
	var err error
	if p.target, err = dialTarget(ctx, c.Server, topicName, c.Token); err != nil {
		return err
	}
	defer p.target.client.Close()
	if p.roll, err = p.target.client.Publisher(rollTopic); err != nil {
		return fmt.Errorf("perf: publisher: %w", err)
	}
	if p.answers, err = p.target.client.Subscribe(ctx, answerTopic,
		client.SubscribeOptions{Policy: waitPolicy}); err != nil {
		return fmt.Errorf("perf: subscribe: %w", err)
	}
	defer p.answers.Close()
	if err := p.loadIndex(ctx); err != nil {
		return err
	}
	for round := uint64(1); ; round++ {
		r, err := p.round(ctx, round)
		if err != nil {
			return err
		}
		if c.OnRound != nil {
			c.OnRound(r)
		}
		if c.Once {
			return nil
		}
		timer := time.NewTimer(c.Settle)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// loadIndex publishes one message of one byte on each of so many topics.
func (p *topicPublisher) loadIndex(ctx context.Context) error {
	for i := range p.config.Topics {
		one, err := p.target.client.Publisher(fmt.Sprintf("%s%d", loadTopic, i))
		if err != nil {
			return fmt.Errorf("perf: publisher: %w", err)
		}
		if err := one.PublishContext(ctx, []byte{1}); err != nil {
			return fmt.Errorf("perf: publish: %w", err)
		}
	}
	return p.target.flush(ctx)
}

// round publishes once, from the roll call to the last answer.
func (p *topicPublisher) round(ctx context.Context, number uint64) (*report.Report, error) {
	c := &p.config
	if err := p.callRoll(ctx); err != nil {
		return nil, err
	}
	r := newReport("topic_publish")
	f := &flow{pattern: p.pattern, form: numbered, messages: c.Messages, batch: c.Batch,
		clock: p.clock}
	before := usage.Now()
	done := make(chan struct{})
	go p.sayHowFar(done, f)
	err := p.flow(ctx, f)
	close(done)
	if err != nil {
		return nil, err
	}
	if err := p.target.put(ctx, theEnd); err != nil {
		return nil, err
	}
	if err := p.target.flush(ctx); err != nil {
		return nil, err
	}
	sent := time.Duration(p.clock.Now() - f.started).Seconds()
	c.Say("%d messages published in %.3f s: %s/s; waiting for %d subscribers", c.Messages, sent,
		report.Rate(per(float64(c.Messages), sent)), c.Subscribers)
	if err := p.collect(ctx, number, f.started, &r.Result); err != nil {
		return nil, err
	}
	main := &r.Result
	main.Subscribers, main.Size, main.Messages = c.Subscribers, c.Size, c.Messages
	main.Seconds = time.Duration(p.clock.Now() - f.started).Seconds()
	main.PublishedPerS = per(float64(c.Messages), main.Seconds)
	main.DeliveredPerS = per(float64(main.Deliveries), main.Seconds)
	main.InOutPerS = main.PublishedPerS + main.DeliveredPerS
	spent := usage.Now().Since(before)
	main.CPU = &report.CPU{Publisher: per(spent.CPUSeconds(), float64(main.Deliveries)/1e6)}
	main.AllocsPerPublish = ptr(per(float64(spent.Mallocs), float64(c.Messages)))
	return r, nil
}

// flow publishes a round's messages; of size 0 there is nothing to tell from the end.
func (p *topicPublisher) flow(ctx context.Context, f *flow) error {
	if p.config.Size == 0 || f.messages == 0 {
		f.started = p.clock.Now()
		return nil
	}
	return f.run(ctx, p.target)
}

func (p *topicPublisher) sayHowFar(done chan struct{}, f *flow) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			n := f.published.Load()
			p.config.Say("%d messages", n-n%progressEvery)
		case <-done:
			return
		}
	}
}

// callRoll waits until there are as many subscribers as there should be, so that none of
// them misses the first messages.
func (p *topicPublisher) callRoll(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, ErrNoAnswer)
	defer cancel()
	here := map[string]int{}
	count := 0
	asked := time.Time{}
	for count < p.config.Subscribers {
		if time.Since(asked) >= rollEvery {
			if err := p.roll.PublishContext(ctx, []byte("who is there?")); err != nil {
				return fmt.Errorf("perf: roll call: %w", err)
			}
			if err := p.target.flush(ctx); err != nil {
				return err
			}
			asked = time.Now()
		}
		err := p.hear(ctx, rollEvery, func(a answer) {
			if a.Kind == "here" {
				count += a.Many - here[a.Process]
				here[a.Process] = a.Many
			}
		})
		if err != nil {
			return fmt.Errorf("%w: %d of %d subscribers are there", err, count,
				p.config.Subscribers)
		}
	}
	return nil
}

// hear takes the answers that come, for a time at most.
func (p *topicPublisher) hear(ctx context.Context, wait time.Duration, take func(answer)) error {
	short, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	_, err := p.answers.PollContext(short, progressEvery, func(m *client.Message) {
		if a, ok := parseAnswer(m.Payload); ok {
			take(a)
		}
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && short.Err() == nil {
		return fmt.Errorf("perf: answers: %w", err)
	}
	return nil
}

// collect waits for the answer of every subscriber to the end.
func (p *topicPublisher) collect(ctx context.Context, number uint64, started int64,
	r *report.Result) error {
	seen := map[string]bool{}
	heard := time.Now()
	for len(seen) < p.config.Subscribers {
		err := p.hear(ctx, rollEvery, func(a answer) {
			name := fmt.Sprintf("%s/%d", a.Process, a.Which)
			if a.Kind != "end" || seen[name] {
				return
			}
			seen[name] = true
			heard = time.Now()
			r.Deliveries += a.Received
			r.Lost += p.config.Messages - min(p.config.Messages, a.Received)
			r.Gaps += a.Gaps
			r.Corrupt += a.Corrupt
			r.Repeated += a.Repeated
			p.config.Say("subscriber %s finished after %.3f s: %d received, %d lost", name,
				time.Duration(p.clock.Now()-started).Seconds(), a.Received, a.Lost)
		})
		if err != nil {
			return err
		}
		if time.Since(heard) > answerTimeout {
			return fmt.Errorf("%w: round %d: %d of %d", ErrNoAnswer, number, len(seen),
				p.config.Subscribers)
		}
	}
	return nil
}
