package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/compare"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
	"github.com/fantail-io/fantail/perf/peers/internal/report"
)

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	child.Main(os.Args, peer.Jobs(drivers()))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM,
		syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the command, but for the process around it; it returns the exit code.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	o, err := parse(args, log)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	dir, err := os.MkdirTemp("", "fantail-peers-")
	if err != nil {
		fmt.Fprintf(log, "peers: %v\n", err)
		return exitFailed
	}
	defer os.RemoveAll(dir)
	r, err := measure(ctx, o, dir, log)
	if errors.Is(err, errUsage) {
		return exitUsage
	}
	if err := errors.Join(r.WriteTable(out), save(o.json, r)); err != nil {
		fmt.Fprintf(log, "peers: %v\n", err)
		return exitFailed
	}
	switch {
	case r.Interrupted:
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(log, "peers: %v\n", err)
		return exitFailed
	case failed(r):
		return exitFailed
	}
	return 0
}

// measure runs what o asks for. The report is as complete as the error lets it be.
func measure(ctx context.Context, o options, dir string, log io.Writer) (*report.Report, error) {
	r := &report.Report{Tool: "peers", Format: 1, Started: time.Now(), Host: report.ThisHost(),
		Rounds: o.rounds, Versions: make(map[string]string)}
	workloads, err := o.workloads()
	if err != nil {
		return r, complain(log, err)
	}
	chosen, err := choose(o.peers, dir)
	if err != nil {
		return r, complain(log, err)
	}
	plan := compare.Plan{Workloads: workloads, Rounds: o.rounds,
		Options: peer.Options{Drain: o.drain}}
	if !o.quiet {
		plan.Progress = func(s compare.Step) { progress(log, s, o.rounds) }
	}
	for _, p := range chosen {
		version, err := p.Check(ctx)
		var missing *peer.MissingError
		switch {
		case errors.As(err, &missing):
			r.Missing = append(r.Missing, report.Missing{Peer: p.Name(), Reason: missing.What,
				Install: missing.Install})
			fmt.Fprintf(log, "%v\n", err)
		case err != nil:
			return r, err
		default:
			r.Versions[p.Name()] = version
			plan.Peers = append(plan.Peers, p)
		}
	}
	if len(plan.Peers) == 0 {
		return r, fmt.Errorf("none of the peers can run here")
	}
	r.Cases, err = compare.Run(ctx, plan)
	if r.Interrupted = ctx.Err() != nil; r.Interrupted {
		err = nil
	}
	return r, err
}

func progress(log io.Writer, s compare.Step, rounds int) {
	fmt.Fprintf(log, "%s %d B × %d  round %d/%d  %-14s ", s.Workload.Name, s.Workload.Bytes,
		s.Workload.Subscribers, s.Round, rounds, s.Peer)
	m := &s.Measurement
	switch {
	case s.Err != nil:
		fmt.Fprintf(log, "failed: %v\n", s.Err)
	case m.Latency != nil:
		fmt.Fprintf(log, "p50 %s, p99 %s, %s deliveries/s, lost %d (%.1f s)\n",
			report.Nanos(float64(m.Latency.P50)), report.Nanos(float64(m.Latency.P99)),
			report.Count(m.DeliveredPerS), m.Lost, s.Took.Seconds())
	default:
		fmt.Fprintf(log, "%s deliveries/s, lost %d (%.1f s)\n", report.Count(m.DeliveredPerS),
			m.Lost, s.Took.Seconds())
	}
}

func save(path string, r *report.Report) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(r.WriteJSON(f), f.Close())
}

// failed says whether any run did.
func failed(r *report.Report) bool {
	for i := range r.Cases {
		for j := range r.Cases[i].Results {
			if len(r.Cases[i].Results[j].Errors) > 0 {
				return true
			}
		}
	}
	return false
}
