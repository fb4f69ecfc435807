package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/perf/peers/internal/compare"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
)

func s(v float64) compare.Summary { return compare.Summary{Median: v, Min: v / 2, Max: v * 2, N: 3} }

func sample() *Report {
	r := &Report{Tool: "peers", Format: 1, Host: Host{CPU: "Abacus", Cores: 2}, Rounds: 3,
		Missing: []Missing{{Peer: "redis", Reason: "there is no redis-server", Install: "apt-get x"}}}
	fantail, nats := compare.Result{Peer: "fantail"}, compare.Result{Peer: "nats"}
	fantail.DeliveredPerS, nats.DeliveredPerS = s(12.3e6), s(723_000)
	nats.CPU.Server = s(1.28)
	nats.Runs = []peer.Measurement{{GaveUp: true}}
	nats.Errors, nats.Disorder = []string{"it fell over"}, 7
	nats.Ratios = map[string]compare.Ratio{"fantail": {DeliveredPerS: s(17)}}
	r.Cases = append(r.Cases, compare.Case{Workload: load.Workload{Name: "openamq", Subscribers: 64,
		Bytes: 500, Seconds: 2}, Results: []compare.Result{fantail, nats}})

	fantail, nats = compare.Result{Peer: "fantail"}, compare.Result{Peer: "nats"}
	for _, x := range []*compare.Result{&fantail, &nats} {
		x.Latency, x.Late = &compare.Latency{P50: s(234_000), P99: s(9e6)}, &compare.Latency{}
	}
	half := s(0.5)
	nats.Ratios = map[string]compare.Ratio{"fantail": {LatencyP50: &half, LatencyP99: &half}}
	r.Cases = append(r.Cases, compare.Case{Workload: load.Workload{Name: "latency", Subscribers: 1,
		Bytes: 500, Rate: 10_000, Seconds: 2}, Results: []compare.Result{fantail, nats}})

	ams := compare.Result{Peer: "nats", SubscriberPerS: s(1e6)}
	r.Cases = append(r.Cases, compare.Case{Workload: load.Workload{Name: "ams", Subscribers: 2,
		Bytes: 20, Messages: 100}, Results: []compare.Result{ams}})
	return r
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	r := sample()
	r.Interrupted = true
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Abacus, 2 cores", "12.3 M", "[362 K..1.45 M]", "1.28 µs",
		"fantail ÷ nats", "17.0×", "[8.50×..34.0×]", "a run failed: it fell over",
		"7 messages out of sequence", "ended before all messages", "1 subscriber,", "234 µs",
		"9.00 ms", "0.500×", "153", "160", "redis was not measured: there is no redis-server",
		"apt-get x", "Interrupted"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(b.String())
	}
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	if err := sample().WriteTable(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("table: %v", err)
	}
	if err := sample().WriteJSON(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v", err)
	}
}

// The names are a promise to whoever reads the files.
func TestJSONNames(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"tool", "format", "started", "host.cpu", "host.kernel", "rounds",
		"missing.0.install", "versions", "cases.0.workload", "cases.0.subscribers", "cases.0.size",
		"cases.0.seconds", "cases.1.rate", "cases.2.messages", "cases.0.results.1.peer",
		"cases.0.results.1.published_per_s.median", "cases.0.results.1.delivered_per_s.min",
		"cases.0.results.1.in_out_per_s.max", "cases.0.results.1.subscriber_per_s.n",
		"cases.0.results.1.lost", "cases.0.results.1.cpu_s_per_million_deliveries.server.median",
		"cases.0.results.1.cpu_s_per_million_deliveries.subscribers",
		"cases.0.results.1.rss_bytes.server", "cases.0.results.1.errors.0",
		"cases.0.results.1.runs.0.gave_up", "cases.0.results.1.ratios.fantail.delivered_per_s.median",
		"cases.1.results.1.latency_ns.p99.median", "cases.1.results.1.ratios.fantail.latency_p50"} {
		if !has(v, strings.Split(path, ".")) {
			t.Errorf("there is no %s", path)
		}
	}
}

func has(v any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	switch x := v.(type) {
	case map[string]any:
		inner, ok := x[path[0]]
		return ok && has(inner, path[1:])
	case []any:
		i := int(path[0][0] - '0')
		return i < len(x) && has(x[i], path[1:])
	}
	return false
}

func TestHost(t *testing.T) {
	if h := ThisHost(); h.OS == "" || h.Cores < 1 || h.Go == "" {
		t.Errorf("%+v", h)
	}
}
