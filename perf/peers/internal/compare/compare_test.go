package compare

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
)

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want Summary
	}{
		{nil, Summary{}},
		{[]float64{3}, Summary{3, 3, 3, 1}},
		{[]float64{4, 2}, Summary{3, 2, 4, 2}},
		{[]float64{9, 1, 5}, Summary{5, 1, 9, 3}},
		{[]float64{9, 1, 5, 6}, Summary{5.5, 1, 9, 4}},
	} {
		before := slices.Clone(c.in)
		if got := Summarize(c.in); got != c.want {
			t.Errorf("Summarize(%v) = %+v, want %+v", c.in, got, c.want)
		}
		if !slices.Equal(before, c.in) {
			t.Errorf("Summarize changed %v to %v", before, c.in)
		}
	}
}

func rate(perS float64) *peer.Measurement {
	return &peer.Measurement{DeliveredPerS: perS, Lost: 1,
		CPU: peer.CPU{Server: 5 / perS, Publisher: 1 / perS, Subscribers: 4 / perS}}
}

// The machine is half as fast in the second round, for everybody: the ratio does not mind.
func TestRatiosAreTakenWithinARound(t *testing.T) {
	c := Case{Workload: load.Workload{Name: "openamq"}, Results: []Result{
		{Peer: "fantail", byRound: []*peer.Measurement{rate(100), rate(50), rate(110)}},
		{Peer: "fantail-tcp", byRound: []*peer.Measurement{rate(80), nil, rate(88)}},
		{Peer: "nats", byRound: []*peer.Measurement{rate(10), rate(5), nil}}}}
	c.summarize()
	for _, r := range c.Results[:2] {
		if len(r.Ratios) != 0 {
			t.Errorf("%s is compared with itself: %+v", r.Peer, r.Ratios)
		}
	}
	nats := c.Results[2]
	if got := nats.Ratios["fantail"].DeliveredPerS; got != (Summary{10, 10, 10, 2}) {
		t.Errorf("fantail ÷ nats = %+v", got)
	}
	if got := nats.Ratios["fantail"].CPU; got.N != 2 || math.Abs(got.Median-0.1) > 1e-9 {
		t.Errorf("CPU of fantail ÷ nats = %+v", got)
	}
	if got := nats.Ratios["fantail-tcp"].DeliveredPerS; got != (Summary{8, 8, 8, 1}) {
		t.Errorf("fantail-tcp ÷ nats = %+v", got)
	}
	if nats.Lost != 2 || len(nats.Runs) != 2 || nats.DeliveredPerS != (Summary{7.5, 5, 10, 2}) {
		t.Errorf("nats: %+v", nats)
	}
	if nats.Latency != nil || nats.Ratios["fantail"].LatencyP50 != nil {
		t.Error("there are latencies where none were asked for")
	}
}

func TestLatencyRatios(t *testing.T) {
	q := func(p50, p99 int64) *peer.Measurement {
		return &peer.Measurement{Latency: &load.Quantiles{P50: p50, P99: p99},
			Late: &load.Quantiles{}}
	}
	c := Case{Workload: load.Workload{Name: "latency", Rate: 1}, Results: []Result{
		{Peer: "fantail", byRound: []*peer.Measurement{q(50, 100)}},
		{Peer: "redis", byRound: []*peer.Measurement{q(200, 1000)}}}}
	c.summarize()
	r := c.Results[1].Ratios["fantail"]
	if r.LatencyP50.Median != 0.25 || r.LatencyP99.Median != 0.1 {
		t.Errorf("ratios %+v, %+v", r.LatencyP50, r.LatencyP99)
	}
	if got := c.Results[1].Latency.P99.Median; got != 1000 {
		t.Errorf("p99 %g", got)
	}
}

// broken is a peer that cannot be started.
type broken struct {
	name  string
	calls *[]string
	hook  func()
}

var errBroken = errors.New("broken")

func (b broken) Name() string                          { return b.name }
func (b broken) Check(context.Context) (string, error) { return "1", nil }
func (b broken) StartBroker(context.Context, load.Workload) (peer.Broker, error) {
	*b.calls = append(*b.calls, b.name)
	if b.hook != nil {
		b.hook()
	}
	return nil, errBroken
}
func (b broken) Subscribers(string, load.Workload) child.Command { return child.Command{} }
func (b broken) Publisher(string, load.Workload) child.Command   { return child.Command{} }

func TestRoundsAlternateAndFailuresAreKept(t *testing.T) {
	var calls []string
	var steps []Step
	p := Plan{Rounds: 3,
		Workloads: []load.Workload{{Name: "x", Subscribers: 1, Bytes: 20, Messages: 1}},
		Progress:  func(s Step) { steps = append(steps, s) }}
	for _, name := range []string{"a", "b", "c"} {
		p.Peers = append(p.Peers, broken{name: name, calls: &calls})
	}
	cases, err := Run(t.Context(), p)
	if err != nil || len(cases) != 1 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	if got := strings.Join(calls, ""); got != "abcbcacab" {
		t.Errorf("the order was %s", got)
	}
	if len(steps) != 9 || !errors.Is(steps[8].Err, errBroken) || steps[8].Round != 3 {
		t.Errorf("%d steps, the last %+v", len(steps), steps[len(steps)-1])
	}
	for _, r := range cases[0].Results {
		if len(r.Errors) != 3 || len(r.Runs) != 0 || r.DeliveredPerS.N != 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls []string
	p := Plan{Rounds: 100, Workloads: []load.Workload{{Subscribers: 1, Bytes: 20, Messages: 1}},
		Peers: []peer.Peer{broken{name: "a", calls: &calls, hook: func() {
			if len(calls) == 3 {
				cancel()
			}
		}}}}
	cases, err := Run(ctx, p)
	if !errors.Is(err, context.Canceled) || len(calls) != 3 || len(cases) != 1 ||
		len(cases[0].Results[0].Errors) != 2 {
		t.Errorf("%d calls, %v, %+v", len(calls), err, cases)
	}
	if _, err := Run(t.Context(), Plan{}); err == nil {
		t.Error("a plan of no rounds was run")
	}
}
