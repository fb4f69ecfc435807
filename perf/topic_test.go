package perf

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fantail-io/fantail/perf/report"
)

// TestTopicToolsFindEachOther runs both tools against a server: the roll call, two rounds,
// the END and its answers.
func TestTopicToolsFindEachOther(t *testing.T) {
	c, err := small().withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	srv, err := startServer(&c)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.close()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	say := func(string, ...any) {}
	for _, rounds := range []int{1, 2} {
		done := make(chan error, 1)
		subscribers, stop := context.WithCancel(ctx)
		go func() {
			done <- TopicSubscribe(subscribers, TopicConfig{Server: srv.address(), Many: 3,
				Once: rounds == 1, Topics: 2, Policy: waitPolicy, Say: say})
		}()
		publisher, end := context.WithCancel(ctx)
		var got []*report.Report
		err = TopicPublish(publisher, TopicConfig{Server: srv.address(), Subscribers: 3,
			Size: 50, Messages: 500, Once: rounds == 1, Topics: 2, Batch: 16, Say: say,
			OnRound: func(r *report.Report) {
				got = append(got, r)
				if len(got) == rounds {
					if rounds > 1 {
						end()
					}
				}
			}})
		end()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for _, r := range got {
			if r.Deliveries != 1500 || r.Lost != 0 || r.Corrupt != 0 || r.Repeated != 0 {
				t.Errorf("%d deliveries, %d lost, %d corrupt, %d repeated", r.Deliveries,
					r.Lost, r.Corrupt, r.Repeated)
			}
		}
		if len(got) != rounds {
			t.Errorf("%d rounds of %d", len(got), rounds)
		}
		if rounds > 1 {
			stop()
		}
		if err := <-done; err != nil && rounds == 1 {
			t.Errorf("subscribers: %v", err)
		}
		stop()
	}
}
