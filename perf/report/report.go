package report

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fantail-io/fantail/perf/hist"
	"github.com/fantail-io/fantail/perf/host"
	"github.com/fantail-io/fantail/perf/usage"
)

// Schema is the version of the JSON names.
const Schema = 1

// Report is one run of the perf program: its main result, and where the workload has several
// (sizes, numbers of subscribers), the results of each.
type Report struct {
	Schema  int              `json:"schema"`
	Version string           `json:"version"`
	Started time.Time        `json:"started"`
	Command []string         `json:"command"`
	Host    host.Fingerprint `json:"host"`
	Result
	Parts []Result `json:"parts,omitempty"`
	// Notes say what a reader of the figures must know.
	Notes []string `json:"notes,omitempty"`
}

// Result is what one workload came to. Rates are of all rounds' medians; counts, CPU and
// histograms are of all rounds together.
type Result struct {
	Workload    string  `json:"workload"`
	Variant     string  `json:"variant,omitempty"`
	Subscribers int     `json:"subscribers"`
	Processes   int     `json:"processes"`
	Size        int     `json:"size"`       // bytes of payload
	Messages    uint64  `json:"messages"`   // published
	Deliveries  uint64  `json:"deliveries"` // received, checked
	Seconds     float64 `json:"seconds"`    // from the first publish to the last delivery

	OfferedPerS   float64 `json:"offered_per_s,omitzero"` // open loop: what was due
	PublishedPerS float64 `json:"published_per_s"`
	DeliveredPerS float64 `json:"delivered_per_s"`
	InOutPerS     float64 `json:"in_out_per_s"`

	Lost     uint64 `json:"lost"`
	Gaps     uint64 `json:"gaps"`
	Corrupt  uint64 `json:"corrupt"`
	Repeated uint64 `json:"repeated"`

	CeilingPerS  float64 `json:"ceiling_per_s,omitzero"`
	CeilingShare float64 `json:"ceiling_share,omitzero"`

	CPU                 *CPU     `json:"cpu_s_per_million_deliveries,omitempty"`
	CeilingCPU          *CPU     `json:"ceiling_cpu_s_per_million_deliveries,omitempty"`
	Cores               *CPU     `json:"cpu_cores,omitempty"` // seconds a second
	SyscallsPerDelivery *float64 `json:"syscalls_per_delivery,omitempty"`
	AllocsPerPublish    *float64 `json:"allocs_per_publish,omitempty"`
	AllocsPerDelivery   *float64 `json:"allocs_per_delivery,omitempty"`

	Latency      *hist.Summary `json:"latency_ns,omitempty"`
	LatencyCurve []hist.Point  `json:"latency_curve,omitempty"`
	SendLateNS   int64         `json:"send_late_max_ns,omitzero"`

	RSS *RSS `json:"rss_bytes,omitempty"`
	GC  *GC  `json:"gc,omitempty"`

	Sender       string  `json:"sender,omitempty"`
	BatchMean    float64 `json:"batch_bytes_mean,omitzero"`
	Batches      []Batch `json:"batches,omitempty"`
	BackPressure *uint64 `json:"back_pressure,omitempty"` // publishes that had to wait

	// ForeignCPU is the share of the machine's CPU time that other programs had.
	ForeignCPU *float64 `json:"foreign_cpu_share,omitempty"`

	SeedPerS float64 `json:"seed_per_s,omitzero"` // the historical figure, per subscriber
	SeedMbps float64 `json:"seed_mbps,omitzero"`  // as it was printed: 1024² bits

	Rounds         []Round      `json:"rounds,omitempty"`
	Timeline       []Tick       `json:"timeline,omitempty"`
	PerSubscriber  []Subscriber `json:"per_subscriber,omitempty"`
	SubscriberRate *Spread      `json:"subscriber_per_s,omitempty"`

	// Slow is the one subscriber that was stopped, or might have been; it is in no other
	// figure.
	Slow *Slow `json:"slow_subscriber,omitempty"`
}

// CPU is CPU time by side, for a million deliveries or for a second. A publisher inside the
// server counts as the server; what is a process elsewhere is zero.
type CPU struct {
	Server      float64 `json:"server,omitzero"`
	Subscribers float64 `json:"subscribers,omitzero"`
	Publisher   float64 `json:"publisher,omitzero"`
}

// RSS is resident memory at its highest, of one process each.
type RSS struct {
	Server     uint64 `json:"server"`
	Subscriber uint64 `json:"subscriber"`
}

// GC is the garbage collectors' work, by side.
type GC struct {
	Server      usage.GC `json:"server"`
	Subscribers usage.GC `json:"subscribers"`
}

// Batch counts submissions to the kernel of at most UpToBytes, and over half of that.
type Batch struct {
	UpToBytes uint64 `json:"up_to_bytes"`
	Count     uint64 `json:"count"`
}

// Round is one of several interleaved measurements.
type Round struct {
	PublishedPerS float64 `json:"published_per_s"`
	DeliveredPerS float64 `json:"delivered_per_s"`
	CeilingPerS   float64 `json:"ceiling_per_s,omitzero"`
	CeilingShare  float64 `json:"ceiling_share,omitzero"`
	ForeignCPU    float64 `json:"foreign_cpu_share"`
}

// Tick is how far a run had come at a time.
type Tick struct {
	Seconds   float64 `json:"s"`
	Published uint64  `json:"published"`
	Delivered uint64  `json:"delivered"`
	RSS       uint64  `json:"rss_bytes,omitzero"` // of the server; in long runs
}

// Subscriber is one subscriber's share of a result.
type Subscriber struct {
	Received uint64 `json:"received"`
	Lost     uint64 `json:"lost"`
	P50      int64  `json:"p50_ns"`
	P99      int64  `json:"p99_ns"`
	Max      int64  `json:"max_ns"`
}

// Slow is what a subscriber got that could not keep up. It was told of every message that it
// missed where Lost equals GapMessages.
type Slow struct {
	Received    uint64 `json:"received"`
	Lost        uint64 `json:"lost"`
	Gaps        uint64 `json:"gaps"`
	GapMessages uint64 `json:"gap_messages"`
}

// Spread is how figures of several subscribers lie.
type Spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// All answers the parts, or where there are none the main result.
func (r *Report) All() []Result {
	if len(r.Parts) > 0 {
		return r.Parts
	}
	return []Result{r.Result}
}

// Save writes the report to a file as JSON.
func (r *Report) Save(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	e := json.NewEncoder(f)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		f.Close()
		return fmt.Errorf("report: %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// maxFileBytes bounds a report that is read: 64 MiB.
const maxFileBytes = 64 << 20

// Load reads a report that Save wrote.
func Load(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	var r Report
	if err := json.NewDecoder(io.LimitReader(f, maxFileBytes)).Decode(&r); err != nil {
		return nil, fmt.Errorf("report: %s: %w", path, err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("report: %s has schema %d; this program reads %d", path, r.Schema,
			Schema)
	}
	return &r, nil
}
