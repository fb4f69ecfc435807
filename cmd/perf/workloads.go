package main

import (
	"context"
	"flag"
	"time"

	"github.com/fantail-io/fantail/perf"
	"github.com/fantail-io/fantail/perf/report"
)

// commands are the subcommands, in the order of the overview.
func commands() []command {
	return []command{
		{name: "openamq", summary: "one publisher, 64 subscribers, 500 bytes: the main measurement",
			about: `
The scenario that OpenAMQ was measured by: one publisher, full fan-out to all subscribers over
loopback TCP, subscribers in a process of their own. Each of them checks the sequence and every
byte. Nothing is lost, since a publisher waits for the slowest. Rounds alternate with the
ceiling: the same bytes in plain writes to as many sockets, read and thrown away.

OpenAMQ's 140,000 to 150,000 messages a second counted what goes in and what comes out.`,
			examples: []string{"perf", "perf openamq -S 64 -Z 500 --report openamq.html",
				"perf openamq --publisher both --rounds 5 --json both.json"},
			run: runOpenAMQ},
		{name: "ams", summary: "the AMS benchmark's matrix, beside its own table",
			about: `
200 MB of payload in messages of 20, 200, 2,000 and 20,000 bytes to 1 and 2 subscribers. The
first four bytes of a payload count down to 1; a subscriber's clock runs from its first message
to that one. Figures are per subscriber, as the original's.`,
			examples: []string{"perf ams", "perf ams --scale 0.1 --sizes 20 --subscribers 1"},
			run:      runAMS},
		{name: "latency", summary: "latency at a fixed rate, from when a message was due",
			about: `
An open loop: messages are due at fixed times. A delivery's latency counts from the time at
which its message was due, not from when the publisher came round to it, so that a stall is
paid for by every message that it holds up.`,
			examples: []string{"perf latency", "perf latency --rate 20000 --subscribers 1,8,64",
				"perf latency --report latency.html"},
			run: runLatency},
		{name: "sweep", summary: "a grid of subscribers and sizes, and a saturation curve",
			about: `
Deliveries a second for each number of subscribers and each size, flat out, each beside the
ceiling; then latency at rising shares of what 64 subscribers × 500 bytes got flat out.`,
			examples: []string{"perf sweep --report sweep.html",
				"perf sweep --subscribers 1,64,1000 --sizes 500 --no-curve"},
			run: runSweep},
		{name: "slow", summary: "whether a stopped subscriber costs the others anything",
			about: `
As openamq, with one of the subscribers in a process of its own and with policy drop-oldest. In
every other round that process is stopped (SIGSTOP) while messages are published. The others
should get as much as without, and it should be told exactly what it has missed.`,
			examples: []string{"perf slow", "perf slow --rounds 5 --json slow.json"},
			run:      runSlow},
		{name: "idle", summary: "what connected subscribers cost while nothing happens",
			about: `
The CPU time of a server with so many subscribers connected, and of the subscribers, while
nothing is published.`,
			examples: []string{"perf idle", "perf idle -S 1000 --seconds 10"},
			run:      runIdle},
		{name: "ceiling", summary: "the bare kernel: plain writes, nothing else",
			about: `
What the kernel can do at best: the bytes of openamq's frames from one buffer, one thread that
writes them to every socket without waiting, and another process that reads and throws away.`,
			examples: []string{"perf ceiling", "perf ceiling -S 1 -Z 20 --ceiling-write 262144"},
			run:      runCeiling},
		{name: "topic_publish", summary: "OpenAMQ's publisher, for a running server",
			operands: "", about: topicPublishAbout, examples: topicExamples, run: runTopicPublish},
		{name: "topic_subscribe", summary: "OpenAMQ's subscriber, or many of them",
			operands: "", about: topicSubscribeAbout, examples: topicExamples,
			run: runTopicSubscribe},
		{name: "peers", summary: "the same work on NATS, Redis and ZeroMQ, alternating",
			about: peersAbout, examples: []string{"perf peers", "perf peers -- -h"}, run: runPeers},
		{name: "diff", summary: "what changed between two JSON reports",
			about: `
Compares the results of two files of --json, one by one.`,
			operands: "BEFORE.json AFTER.json",
			examples: []string{"perf diff before.json after.json --threshold 3 --fail"},
			run:      runDiff},
		{name: "show", summary: "a JSON report as a table, or with --report as a page",
			about: `
Shows a file of --json again.`,
			operands: "FILE.json", examples: []string{"perf show a.json --report a.html"},
			run: runShow},
	}
}

func runOpenAMQ(ctx context.Context, e *environment) error {
	return runPlain(ctx, e, perf.OpenAMQ)
}

func runSlow(ctx context.Context, e *environment) error {
	return runPlain(ctx, e, perf.Slow)
}

func runIdle(ctx context.Context, e *environment) error {
	return runPlain(ctx, e, perf.Idle)
}

// runPlain runs a workload that has the common flags and no others.
func runPlain(ctx context.Context, e *environment,
	workload func(context.Context, perf.Config) (*report.Report, error)) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var c common
	c.register(fs)
	c.sizes(fs)
	if err := c.parse(e, fs); err != nil {
		return err
	}
	return c.measure(ctx, e, c.lossless(), func(ctx context.Context, p func(perf.Status)) (
		*report.Report, error) {
		c.Progress = p
		return workload(ctx, c.Config)
	})
}

func runCeiling(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var c common
	c.output.register(fs)
	c.sizes(fs)
	span(fs, &c.Duration, "seconds", 2*time.Second, "T|how long a round writes")
	fs.IntVar(&c.Rounds, "rounds", 3, "N|measure so often; the rate is the median")
	fs.IntVar(&c.CeilingWrite, "write", 0, "BYTES|what one write offers (default whole segments "+
		"up to 64 KiB)")
	if operands, err := e.parse(fs); err != nil {
		return err
	} else if len(operands) > 0 {
		return e.usage("%q is too much", operands[0])
	}
	return c.measure(ctx, e, false, func(ctx context.Context, p func(perf.Status)) (
		*report.Report, error) {
		c.Progress = p
		return perf.Ceiling(ctx, c.Config)
	})
}

func runAMS(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var c common
	c.register(fs)
	var a perf.AMSConfig
	sizes, counts := numbers{20, 200, 2_000, 20_000}, numbers{1, 2}
	fs.Float64Var(&a.Scale, "scale", 1, "PART|of the 200 MB that each run carries")
	fs.Var(&sizes, "sizes", "N,N…|payloads, in bytes")
	fs.Var(&counts, "subscribers", "N,N…|numbers of subscribers")
	defaults(fs, "rounds", "1", "ceiling", "500ms")
	if err := c.parse(e, fs); err != nil {
		return err
	}
	return c.measure(ctx, e, c.lossless(), func(ctx context.Context, p func(perf.Status)) (
		*report.Report, error) {
		c.Progress = p
		a.Config, a.Sizes, a.Counts = c.Config, sizes, counts
		return perf.AMS(ctx, a)
	})
}

func runLatency(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var c common
	c.register(fs)
	size(fs, &c.Size, 500)
	counts := numbers{1, 64}
	fs.Float64Var(&c.Rate, "rate", perf.DefaultRate, "N|messages that are due each second")
	fs.Var(&counts, "subscribers", "N,N…|numbers of subscribers")
	if err := c.parse(e, fs); err != nil {
		return err
	}
	return c.measure(ctx, e, c.lossless(), func(ctx context.Context, p func(perf.Status)) (
		*report.Report, error) {
		c.Progress = p
		return perf.Latency(ctx, perf.LatencyConfig{Config: c.Config, Counts: counts})
	})
}

func runSweep(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var c common
	c.register(fs)
	c.sizes(fs)
	counts, sizes := numbers{1, 4, 16, 64, 256}, numbers{20, 200, 500, 2_000, 20_000}
	noCurve := false
	fs.Var(&counts, "subscribers", "N,N…|the grid's numbers of subscribers")
	fs.Var(&sizes, "sizes", "N,N…|the grid's payloads, in bytes")
	fs.BoolVar(&noCurve, "no-curve", false, "|only the grid")
	defaults(fs, "rounds", "1", "seconds", "700ms", "ceiling", "500ms")
	if err := c.parse(e, fs); err != nil {
		return err
	}
	s := perf.SweepConfig{Counts: counts, Sizes: sizes}
	if noCurve {
		s.Shares = []float64{-1}
	}
	return c.measure(ctx, e, c.lossless(), func(ctx context.Context, p func(perf.Status)) (
		*report.Report, error) {
		c.Progress = p
		s.Config = c.Config
		return perf.Sweep(ctx, s)
	})
}
