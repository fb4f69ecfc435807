package perf

import (
	"context"
	"fmt"

	"github.com/fantail-io/fantail/perf/report"
)

// Slow measures whether a subscriber that does not read costs the others anything: one of
// them, with policy DropOldest, is a process of its own. In every other round it is stopped,
// as SIGSTOP does, while messages are published, and must then be told exactly what it has
// missed.
func Slow(ctx context.Context, c Config) (*report.Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if c.Subscribers < 2 || c.Processes > c.Subscribers-1 || c.Publisher == Both {
		return nil, fmt.Errorf("%w: slow takes at least 2 subscribers, and one kind of publisher",
			errConfig)
	}
	c.Ceiling = -1
	all := c.Subscribers
	c.Subscribers--
	r := newReport("slow")
	var list []*measured
	for _, stopped := range []bool{false, true} {
		list = append(list, &measured{spec: spec{Config: &c, workload: "slow", topic: topicName,
			form: numbered, publisher: c.Publisher, slow: true, stopped: stopped}})
	}
	if err := alternate(ctx, &c, r, list); err != nil {
		return nil, err
	}
	conclude(r, list)
	r.Workload = "slow"
	var ratios []float64
	for i, x := range r.Parts[1].Rounds {
		ratios = append(ratios, per(x.DeliveredPerS, r.Parts[0].Rounds[i].DeliveredPerS))
	}
	r.Parts[0].Variant, r.Parts[1].Variant = "all read", "one stopped"
	told := "its gap records say exactly that"
	s := r.Parts[1].Slow
	if s.Lost != s.GapMessages {
		told = fmt.Sprintf("its gap records say %d, which is WRONG", s.GapMessages)
	}
	r.Notes = append(r.Notes, fmt.Sprintf("with 1 of %d stopped the others got %.1f %% of what "+
		"they get without that (median of the rounds)", all, 100*median(ratios)),
		fmt.Sprintf("the stopped one got %d messages and missed %d: %s", s.Received, s.Lost, told))
	return r, nil
}

// Idle measures what connected subscribers cost while nothing is published.
func Idle(ctx context.Context, c Config) (*report.Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	c.Ceiling, c.Messages = -1, 0
	m := &measured{spec: spec{Config: &c, workload: "idle", topic: topicName, form: numbered,
		publisher: Embedded, idle: true}}
	r := newReport("idle")
	if err := alternate(ctx, &c, r, []*measured{m}); err != nil {
		return nil, err
	}
	conclude(r, []*measured{m})
	return r, nil
}
