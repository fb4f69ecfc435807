package compare

import (
	"context"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
)

// MaxRounds bounds Plan.Rounds.
const MaxRounds = 1000

// Plan is what to compare.
type Plan struct {
	Peers     []peer.Peer
	Workloads []load.Workload
	Rounds    int // 1 to MaxRounds
	Options   peer.Options
	// Progress is told about each run as it ends. Nil: nobody is.
	Progress func(Step)
}

// Step is a run that has ended.
type Step struct {
	Workload    load.Workload
	Round       int // from 1
	Peer        string
	Took        time.Duration
	Measurement peer.Measurement
	Err         error
}

// Case is a workload and what all peers made of it.
type Case struct {
	load.Workload
	Results []Result `json:"results"`
}

// Result is what one peer made of a workload.
type Result struct {
	Peer   string             `json:"peer"`
	Runs   []peer.Measurement `json:"runs"` // those that did not fail
	Errors []string           `json:"errors,omitempty"`

	PublishedPerS  Summary `json:"published_per_s"`
	DeliveredPerS  Summary `json:"delivered_per_s"`
	InOutPerS      Summary `json:"in_out_per_s"`
	SubscriberPerS Summary `json:"subscriber_per_s"`
	Lost           uint64  `json:"lost"` // over all rounds, as are the next two
	Disorder       uint64  `json:"disorder"`
	Torn           uint64  `json:"torn"`
	CPU            struct {
		Server      Summary `json:"server"`
		Publisher   Summary `json:"publisher"`
		Subscribers Summary `json:"subscribers"`
	} `json:"cpu_s_per_million_deliveries"`
	RSS struct {
		Server     Summary `json:"server"`
		Subscriber Summary `json:"subscriber"`
	} `json:"rss_bytes"`
	Latency *Latency `json:"latency_ns,omitempty"`
	Late    *Latency `json:"late_ns,omitempty"`
	// Ratios are the subjects' figures over this peer's, by the subject's name.
	Ratios map[string]Ratio `json:"ratios,omitempty"`

	byRound []*peer.Measurement // nil where that round failed
}

// Latency is quantiles over the rounds.
type Latency struct {
	P50  Summary `json:"p50"`
	P90  Summary `json:"p90"`
	P99  Summary `json:"p99"`
	P999 Summary `json:"p999"`
	Max  Summary `json:"max"`
}

// Ratio is how a subject does beside a peer, in the same rounds: its figure over the peer's.
type Ratio struct {
	DeliveredPerS  Summary `json:"delivered_per_s"`
	SubscriberPerS Summary `json:"subscriber_per_s"`
	// CPU is of all processes together, per delivery: less is better, and other work on the
	// machine hardly shows in it.
	CPU        Summary  `json:"cpu_s_per_million_deliveries"`
	LatencyP50 *Summary `json:"latency_p50,omitempty"`
	LatencyP99 *Summary `json:"latency_p99,omitempty"`
}

// Run compares. The cases are in the order of the plan, and complete as far as ctx let them.
func Run(ctx context.Context, p Plan) ([]Case, error) {
	if p.Rounds < 1 || p.Rounds > MaxRounds {
		return nil, fmt.Errorf("compare: %d rounds: 1 to %d", p.Rounds, MaxRounds)
	}
	var cases []Case
	for _, w := range p.Workloads {
		c := Case{Workload: w, Results: make([]Result, len(p.Peers))}
		for i, x := range p.Peers {
			c.Results[i] = Result{Peer: x.Name(), byRound: make([]*peer.Measurement, p.Rounds)}
		}
		err := c.run(ctx, p)
		c.summarize()
		cases = append(cases, c)
		if err != nil {
			return cases, err
		}
	}
	return cases, nil
}

func (c *Case) run(ctx context.Context, p Plan) error {
	for round := range p.Rounds {
		for i := range p.Peers {
			i = (i + round) % len(p.Peers)
			began := time.Now()
			m, err := peer.Measure(ctx, p.Peers[i], c.Workload, p.Options)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r := &c.Results[i]
			if err != nil {
				r.Errors = append(r.Errors, err.Error())
			} else {
				r.byRound[round] = &m
			}
			if p.Progress != nil {
				p.Progress(Step{Workload: c.Workload, Round: round + 1, Peer: r.Peer,
					Took: time.Since(began), Measurement: m, Err: err})
			}
		}
	}
	return nil
}
