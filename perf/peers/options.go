package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/fantail-io/fantail/perf/peers/internal/compare"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
)

// The names of the workloads.
const (
	openamq = "openamq"
	latency = "latency"
	ams     = "ams"
	all     = "all"
)

// amsBytes is the AMS benchmark's payload in all per run.
const amsBytes = 200_000_000

// options are the command line.
type options struct {
	workload    string
	peers       string
	subscribers int
	bytes       int
	messages    int
	seconds     float64
	rate        int
	scale       float64
	rounds      int
	drain       time.Duration
	json        string
	quiet       bool
}

// parse reads the command line. The error Is flag.ErrHelp where help was asked for; it and
// complaints have been written to out.
func parse(args []string, out io.Writer) (options, error) {
	o := options{workload: openamq}
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.peers, "peers", "", "`names` of the peers to measure, comma-separated")
	f.IntVar(&o.subscribers, "S", 64, "subscribers, in openamq and in latency")
	f.IntVar(&o.bytes, "Z", 500, "bytes of payload, in openamq and in latency")
	f.IntVar(&o.bytes, "z", 500, "the same as -Z")
	f.IntVar(&o.messages, "M", 0, "messages a run, in openamq; 0: as many as --seconds allow")
	f.Float64Var(&o.seconds, "seconds", 2, "publishing time of a run, in openamq and in latency")
	f.IntVar(&o.rate, "rate", 10_000, "messages a second, in latency")
	f.Float64Var(&o.scale, "scale", 0.1, "share of the original 200 MB a run, in ams")
	f.IntVar(&o.rounds, "rounds", 3, "rounds: each peer runs once a round")
	f.DurationVar(&o.drain, "drain", 30*time.Second,
		"how long to wait for the last message after it was published")
	f.StringVar(&o.json, "json", "", "also write everything to this `file` as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on standard error")
	f.Usage = func() {
		fmt.Fprint(out, help, peersHelp(), helpFairness)
		f.PrintDefaults()
		fmt.Fprint(out, helpEnd)
	}
	var words []string
	for { // flags may come before and after the workload
		if err := f.Parse(args); err != nil {
			return o, err
		}
		if f.NArg() == 0 {
			break
		}
		words, args = append(words, f.Arg(0)), f.Args()[1:]
	}
	if len(words) > 1 {
		return o, complain(out, fmt.Errorf("one workload, not %q", words))
	}
	if len(words) == 1 {
		o.workload = words[0]
	}
	if err := o.check(); err != nil {
		return o, complain(out, err)
	}
	return o, nil
}

var errUsage = errors.New("peers: wrong usage")

func complain(out io.Writer, err error) error {
	fmt.Fprintf(out, "peers: %v; peers -h explains\n", err)
	return fmt.Errorf("%w: %w", errUsage, err)
}

func (o *options) check() error {
	if o.rounds < 1 || o.rounds > compare.MaxRounds {
		return fmt.Errorf("--rounds %d: 1 to %d", o.rounds, compare.MaxRounds)
	}
	if !(o.scale > 0 && o.scale <= 100) {
		return fmt.Errorf("--scale %g: more than 0, up to 100", o.scale)
	}
	if o.drain < time.Millisecond {
		return fmt.Errorf("--drain %v: at least 1ms", o.drain)
	}
	if o.rate < 1 {
		return fmt.Errorf("--rate %d: at least 1", o.rate)
	}
	workloads, err := o.workloads()
	if err != nil {
		return err
	}
	for _, w := range workloads {
		if err := w.Check(); err != nil {
			return err
		}
	}
	return nil
}

// workloads are what is to be measured.
func (o *options) workloads() ([]load.Workload, error) {
	switch o.workload {
	case openamq:
		return []load.Workload{{Name: openamq, Subscribers: o.subscribers, Bytes: o.bytes,
			Messages: o.messages, Seconds: o.seconds}}, nil
	case latency:
		one := load.Workload{Name: latency, Subscribers: 1, Bytes: o.bytes, Seconds: o.seconds,
			Rate: o.rate}
		if o.subscribers == 1 {
			return []load.Workload{one}, nil
		}
		many := one
		many.Subscribers = o.subscribers
		return []load.Workload{one, many}, nil
	case ams:
		var w []load.Workload
		for _, size := range []int{20, 200, 2_000, 20_000} {
			for subscribers := 1; subscribers <= 2; subscribers++ {
				w = append(w, load.Workload{Name: ams, Subscribers: subscribers, Bytes: size,
					Messages: max(2, int(amsBytes*o.scale)/size)})
			}
		}
		return w, nil
	case all:
		var w []load.Workload
		for _, name := range []string{openamq, latency, ams} {
			part := *o
			part.workload = name
			some, err := part.workloads()
			if err != nil {
				return nil, err
			}
			w = append(w, some...)
		}
		return w, nil
	}
	return nil, fmt.Errorf("there is no workload %q: openamq, latency, ams, all", o.workload)
}
