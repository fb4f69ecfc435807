package perf

import (
	"errors"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/fantail-io/fantail/perf/ceiling"
	"github.com/fantail-io/fantail/perf/hist"
	"github.com/fantail-io/fantail/perf/load"
	"github.com/fantail-io/fantail/perf/worker"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/ringtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == worker.Arg {
		c := worker.Config{Jobs: Jobs(), Exit: os.Exit}
		if worker.Serve(os.Args[2], os.Stdin, os.Stdout, c) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	ringtest.Main(m)
}

// small is a Config that is over in a moment.
func small() Config {
	return Config{Subscribers: 3, Size: 100, Messages: 2000, Rounds: 1, Processes: 2,
		Ceiling: 20 * time.Millisecond}
}

func TestOpenAMQDeliversEverythingFromBothPublishers(t *testing.T) {
	c := small()
	c.Publisher, c.Rounds = Both, 2
	steps := 0
	c.Progress = func(s Status) {
		if s.Done {
			steps++
		}
	}
	r, err := OpenAMQ(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) != 2 || r.Parts[0].Variant != Embedded || r.Parts[1].Variant != TCP {
		t.Fatalf("parts: %+v", r.Parts)
	}
	if steps != 4 && steps != 6 { // without and with a ceiling
		t.Errorf("%d steps were told of", steps)
	}
	for _, p := range r.Parts {
		if p.Messages != 4000 || p.Deliveries != 12_000 || p.Lost != 0 || p.Corrupt != 0 ||
			p.Repeated != 0 || p.Gaps != 0 {
			t.Errorf("%s: %d messages, %d deliveries, %d lost, %d corrupt, %d repeated, %d gaps",
				p.Variant, p.Messages, p.Deliveries, p.Lost, p.Corrupt, p.Repeated, p.Gaps)
		}
		if p.DeliveredPerS <= 0 || p.CPU == nil || p.SyscallsPerDelivery == nil ||
			*p.SyscallsPerDelivery <= 0 || p.Latency == nil || p.RSS == nil || p.Sender == "" {
			t.Errorf("%s: figures are missing: %+v", p.Variant, p)
		}
	}
}

func TestLatencyCountsEveryDelivery(t *testing.T) {
	c := small()
	c.Rate, c.Messages = 5000, 200
	r, err := Latency(t.Context(), LatencyConfig{Config: c, Counts: []int{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Parts {
		if p.Latency == nil || p.Latency.Count != int64(200*p.Subscribers) || p.Lost != 0 {
			t.Errorf("%d subscribers: %+v, %d lost", p.Subscribers, p.Latency, p.Lost)
		}
		if len(p.PerSubscriber) != p.Subscribers || p.PerSubscriber[0].P99 <= 0 {
			t.Errorf("per subscriber: %+v", p.PerSubscriber)
		}
	}
	c.Size = 8
	if _, err := Latency(t.Context(), LatencyConfig{Config: c}); !errors.Is(err, errConfig) {
		t.Errorf("a payload without room for a time: %v", err)
	}
}

func TestAMSCountsDown(t *testing.T) {
	c := small()
	c.Messages = 0
	r, err := AMS(t.Context(), AMSConfig{Config: c, Scale: 0.001, Sizes: []int{20, 20_000},
		Counts: []int{2}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{10_000, 10} {
		p := r.Parts[i]
		if p.Messages != want || p.Deliveries != 2*want || p.Corrupt != 0 || p.SeedPerS == 0 {
			t.Errorf("%d bytes: %+v", p.Size, p)
		}
	}
}

func TestSlowIsToldWhatItMissed(t *testing.T) {
	c := small()
	// More than the stream, and the sockets, hold.
	c.Messages, c.Size, c.StreamBytes = 20_000, 1000, 2<<20
	r, err := Slow(t.Context(), c)
	if errors.Is(err, ring.ErrNotSupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Parts {
		if p.Lost != 0 || p.Corrupt != 0 || p.Repeated != 0 || p.Deliveries != 2*c.Messages {
			t.Errorf("%s: %d deliveries, %d lost, %d corrupt, %d repeated", p.Variant,
				p.Deliveries, p.Lost, p.Corrupt, p.Repeated)
		}
		if p.Slow == nil || p.Slow.Lost != p.Slow.GapMessages {
			t.Errorf("%s: the slow one: %+v", p.Variant, p.Slow)
		}
	}
	if s := r.Parts[1].Slow; s.Lost == 0 || s.Gaps == 0 {
		t.Errorf("the stopped one missed nothing: %+v", s)
	}
}

func TestIdlePublishesNothing(t *testing.T) {
	c := small()
	c.Duration = 50 * time.Millisecond
	r, err := Idle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Messages != 0 || r.Deliveries != 0 || r.Cores == nil || r.CPU != nil ||
		r.SyscallsPerDelivery != nil || r.AllocsPerPublish != nil {
		t.Errorf("%+v", r.Result)
	}
}

func TestSweepOfOneCell(t *testing.T) {
	c := small()
	c.Messages = 300
	r, err := Sweep(t.Context(), SweepConfig{Config: c, Counts: []int{1}, Sizes: []int{50},
		Shares: []float64{0.2}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) != 2 || r.Parts[0].Workload != "sweep" || r.Parts[1].Workload != "saturation" ||
		r.Parts[1].OfferedPerS <= 0 || r.Parts[1].Latency.Count != 3*300 {
		t.Errorf("%+v", r.Parts)
	}
}

func TestConfigLimits(t *testing.T) {
	for name, c := range map[string]Config{
		"subscribers": {Subscribers: -1}, "too many": {Subscribers: 20_000},
		"processes": {Subscribers: 2, Processes: 3}, "size": {Size: 2 << 20},
		"rounds": {Rounds: 1000}, "publisher": {Publisher: "mars"}, "rate": {Rate: -1},
		"duration": {Duration: -1}, "batch": {Batch: 1 << 20},
		"policy": {Policy: ring.Policy{Kind: ring.PolicySpill}},
	} {
		if _, err := c.withDefaults(); !errors.Is(err, errConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := Config{}.withDefaults()
	if err != nil || c.Subscribers != 64 || c.Size != 500 || c.Policy.Kind != ring.PolicyWait {
		t.Errorf("the zero Config is %+v, %v", c, err)
	}
}

func TestResultOfRounds(t *testing.T) {
	c, err := Config{Subscribers: 2, Size: 10}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m := &measured{spec: spec{Config: &c, workload: "w"}, ceilings: []ceiling.Result{
		{PerSecond: 1000}, {PerSecond: 1000}, {PerSecond: 2000}}}
	for i, received := range []uint64{800, 1000, 600} {
		o := &outcome{published: 500, seconds: 1, latency: hist.New(),
			counts: load.Counts{Received: received}, foreign: float64(i) / 10}
		m.rounds = append(m.rounds, o)
	}
	r := m.result()
	if r.DeliveredPerS != 800 || r.PublishedPerS != 500 || r.InOutPerS != 1300 {
		t.Errorf("rates: %+v", r)
	}
	if r.CeilingShare != 0.8 || r.CeilingPerS != 1000 || r.Lost != 600 || r.Messages != 1500 {
		t.Errorf("share %v of %v, lost %d of %d", r.CeilingShare, r.CeilingPerS, r.Lost,
			r.Messages)
	}
	if *r.ForeignCPU != 0.2 || len(r.Rounds) != 3 {
		t.Errorf("others %v, rounds %v", *r.ForeignCPU, r.Rounds)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}} {
		if got := median(c.list); got != c.want {
			t.Errorf("median of %v is %v", c.list, got)
		}
	}
}

func TestAnswersTravel(t *testing.T) {
	want := answer{Kind: "end", Process: "host-1", Which: 3, Received: 7, Lost: 1}
	got, ok := parseAnswer(want.bytes())
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v became %+v", want, got)
	}
	for _, bad := range []string{"", "{}", "who is there?", `{"kind": 1}`} {
		if _, ok := parseAnswer([]byte(bad)); ok {
			t.Errorf("%q is an answer", bad)
		}
	}
}
