package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
	"github.com/fantail-io/fantail/perf/peers/internal/report"
)

func TestMain(m *testing.M) {
	child.Main(os.Args, peer.Jobs(drivers()))
	os.Exit(m.Run())
}

// skipIfMissing skips the test of a peer that is not installed, unless FANOUT_MUST_RUN, a
// comma-separated list, names it.
func skipIfMissing(t *testing.T, name string, err error) {
	t.Helper()
	switch {
	case !errors.Is(err, peer.ErrMissing):
		if err != nil {
			t.Fatal(err)
		}
	case slices.Contains(strings.Split(os.Getenv("FANOUT_MUST_RUN"), ","), name):
		t.Fatalf("must run: %v", err)
	default:
		t.Skip(err)
	}
}

// Every peer that is installed does a little of everything, and loses nothing.
func TestSmoke(t *testing.T) {
	workloads := map[string]load.Workload{
		"counted": {Name: openamq, Subscribers: 3, Bytes: 500, Messages: 2000},
		"timed":   {Name: openamq, Subscribers: 2, Bytes: 500, Seconds: 0.05},
		"large":   {Name: ams, Subscribers: 2, Bytes: 100_000, Messages: 50},
		"small":   {Name: ams, Subscribers: 1, Bytes: load.MinBytes, Messages: 5000},
		"paced":   {Name: latency, Subscribers: 2, Bytes: 500, Rate: 2000, Seconds: 0.1},
	}
	for _, e := range registry {
		t.Run(e.name, func(t *testing.T) {
			p := e.new(t.TempDir())
			version, err := p.Check(t.Context())
			skipIfMissing(t, e.name, err)
			if p.Name() != e.name || version == "" {
				t.Errorf("name %q, version %q", p.Name(), version)
			}
			for name, w := range workloads {
				t.Run(name, func(t *testing.T) { smoke(t, p, w) })
			}
		})
	}
}

func smoke(t *testing.T, p peer.Peer, w load.Workload) {
	m, err := peer.Measure(t.Context(), p, w, peer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Received == 0 || m.Lost+m.Disorder+m.Torn != 0 || m.GaveUp ||
		m.Received != uint64(m.Messages)*uint64(w.Subscribers) {
		t.Errorf("%+v", m)
	}
	if total, known := w.Total(); known && m.Messages != total {
		t.Errorf("%d messages, want %d", m.Messages, total)
	}
	if m.CPU.Server <= 0 || m.CPU.Subscribers <= 0 {
		t.Errorf("CPU %+v", m.CPU)
	}
	if runtime.GOOS == "linux" && (m.RSS.Subscriber == 0 || m.RSS.Server == 0) {
		t.Errorf("RSS %+v", m.RSS)
	}
	if w.Latencies() {
		want := int64(m.Messages-m.Messages/10) * int64(w.Subscribers)
		if m.Latency.Count != want || m.Latency.P50 <= 0 || m.Late.Count*int64(w.Subscribers) != want {
			t.Errorf("latency %+v, late %+v; want %d", m.Latency, m.Late, want)
		}
	}
}

func TestRunWritesTableAndJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	var out, log bytes.Buffer
	args := []string{"openamq", "--peers", "nats", "-S", "2", "-M", "500", "--rounds", "2",
		"--json", path}
	if code := run(t.Context(), args, &out, &log); code != 0 {
		t.Fatalf("exit code %d: %s", code, &log)
	}
	if !strings.Contains(out.String(), "delivered/s") || strings.Count(log.String(), "\n") != 2 {
		t.Errorf("output %s\nlog %s", &out, &log)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 1 || len(r.Cases[0].Results) != 1 || len(r.Cases[0].Results[0].Runs) != 2 ||
		r.Versions["nats"] == "" {
		t.Errorf("%s", b)
	}
}

// interruptor cancels when the first run has been reported.
type interruptor struct {
	bytes.Buffer
	cancel func()
}

func (i *interruptor) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("deliveries/s")) {
		i.cancel()
	}
	return i.Buffer.Write(b)
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	log := &interruptor{cancel: cancel}
	args := []string{"--peers", "nats", "-S", "2", "-M", "500", "--rounds", "1000"}
	if code := run(ctx, args, &out, log); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, log)
	}
	if !strings.Contains(out.String(), "Interrupted") {
		t.Errorf("output %s", &out)
	}
}

func TestMissingPeersSayWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, log bytes.Buffer
	if code := run(t.Context(), []string{"--peers", "redis,zeromq"}, &out, &log); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"apt-get install redis-server", "apt-get install libzmq3-dev"} {
		if !strings.Contains(out.String(), want) || !strings.Contains(log.String(), want) {
			t.Errorf("%q is missing in %s%s", want, &out, &log)
		}
	}
}

func TestUsage(t *testing.T) {
	var out, log bytes.Buffer
	if code := run(t.Context(), []string{"-h"}, &out, &log); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, e := range registry {
		if !strings.Contains(log.String(), e.name) {
			t.Errorf("the help does not know %s", e.name)
		}
	}
	for _, args := range [][]string{{"nonsense"}, {"ams", "latency"}, {"--rounds", "0"},
		{"--peers", "smtp"}, {"-Z", "1"}, {"-S", "0"}, {"--seconds", "0"}, {"--scale", "0"},
		{"--rate", "0"}, {"--drain", "0"}, {"--no-such-flag"}} {
		if code := run(t.Context(), args, &out, &log); code != exitUsage {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
}

func TestWorkloads(t *testing.T) {
	for args, want := range map[string]int{"": 1, "latency": 2, "latency -S 1": 1, "ams": 8, "all": 11,
		"-S 3 -z 30 openamq -M 7": 1} {
		var log bytes.Buffer
		o, err := parse(strings.Fields(args), &log)
		if err != nil {
			t.Fatalf("%q: %v %s", args, err, &log)
		}
		w, err := o.workloads()
		if err != nil || len(w) != want {
			t.Errorf("%q: %d workloads, %v; want %d", args, len(w), err, want)
		}
		if strings.Contains(args, "-z") && (w[0].Bytes != 30 || w[0].Messages != 7 ||
			w[0].Subscribers != 3) {
			t.Errorf("%q: %+v", args, w[0])
		}
	}
}
