package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fantail-io/fantail/perf/hist"
	"github.com/fantail-io/fantail/perf/host"
	"github.com/fantail-io/fantail/perf/usage"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files of testdata anew")

func ptr[T any](v T) *T { return &v }

func sample() *Report {
	h := hist.New()
	for i := int64(1); i <= 10_000; i++ {
		h.Record(i * 1000)
	}
	s := h.Summary()
	return &Report{
		Schema: Schema, Version: "0123456789ab", Command: []string{"openamq", "-S", "64"},
		Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		Host: host.Fingerprint{CPU: "Zweig <9000>", Cores: 2, OS: "linux", Arch: "amd64",
			Kernel: "6.18", Go: "go1.26", GOMAXPROCS: 2, SyscallNS: 163.2, CacheLineNS: 343,
			Mitigations: map[string]string{"spectre_v2": "Retpolines", "meltdown": "PTI"}},
		Result: Result{
			Workload: "openamq", Variant: "embedded", Subscribers: 64, Processes: 1, Size: 500,
			Messages: 400_000, Deliveries: 25_600_000, Seconds: 2, PublishedPerS: 184_213.4,
			DeliveredPerS: 11_789_657, InOutPerS: 11_973_870, CeilingPerS: 13_000_000,
			CeilingShare: 0.907, CPU: &CPU{Server: 0.09, Subscribers: 0.0812},
			CeilingCPU: &CPU{Server: 0.08, Subscribers: 0.07}, SyscallsPerDelivery: ptr(0.0052), AllocsPerPublish: ptr(0.0), AllocsPerDelivery: ptr(0.0),
			Latency: &s, LatencyCurve: h.Curve(), RSS: &RSS{Server: 90 << 20, Subscriber: 25 << 20},
			GC: &GC{Server: usage.GC{Collections: 1, PauseMaxNS: 45_000}}, Sender: "writev",
			BatchMean: 65_483, BackPressure: ptr(uint64(12)), ForeignCPU: ptr(0.31),
			Batches: []Batch{{UpToBytes: 32768, Count: 10}, {UpToBytes: 65536, Count: 40_000}},
			Rounds: []Round{{PublishedPerS: 180_000, DeliveredPerS: 11_520_000,
				CeilingPerS: 12_900_000, CeilingShare: 0.893, ForeignCPU: 0.02},
				{PublishedPerS: 188_000, DeliveredPerS: 12_032_000, CeilingPerS: 13_100_000,
					CeilingShare: 0.918, ForeignCPU: 0.31}},
			Timeline: []Tick{{}, {Seconds: 0.5, Delivered: 5_000_000},
				{Seconds: 1, Delivered: 11_000_000}, {Seconds: 1.5, Delivered: 16_000_000},
				{Seconds: 2, Delivered: 23_000_000}},
		},
	}
}

// matrix is a report with parts.
func matrix(workload string) *Report {
	r := sample()
	one := r.Result
	one.Workload = workload
	r.Result = Result{Workload: workload}
	for _, size := range []int{20, 200} {
		for _, subs := range []int{1, 2} {
			p := one
			p.Size, p.Subscribers = size, subs
			p.DeliveredPerS /= float64(size)
			if workload == "ams" {
				p.SeedPerS, p.SeedMbps = 11_560, 1.7
			}
			r.Parts = append(r.Parts, p)
		}
	}
	if workload == "sweep" || workload == "latency" {
		for i, rate := range []float64{1000, 5000, 9000} {
			p := one
			p.OfferedPerS, p.CeilingShare, p.DeliveredPerS = rate, 0, 64*rate
			r.Parts = append(r.Parts, p)
			r.Parts[len(r.Parts)-1].Lost = uint64(i)
		}
	}
	r.Parts[3].CPU, r.Parts[3].Latency, r.Parts[3].CeilingShare = nil, nil, 0
	return r
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -rewrite writes it anew); got:\n%s", path, got)
	}
}

func TestText(t *testing.T) {
	for name, r := range map[string]*Report{"openamq.txt": sample(), "ams.txt": matrix("ams"),
		"sweep.txt": matrix("sweep")} {
		var b bytes.Buffer
		WriteText(&b, r)
		golden(t, name, b.Bytes())
	}
}

func TestDiff(t *testing.T) {
	before, after := sample(), sample()
	after.DeliveredPerS *= 0.9
	after.CPU = &CPU{Server: 0.045, Subscribers: 0.0815}
	after.Latency = nil
	after.Lost = 3
	var b bytes.Buffer
	if worse := WriteDiff(&b, before, after, 0.05); worse != 2 {
		t.Errorf("%d figures got worse, want 2", worse)
	}
	golden(t, "diff.txt", b.Bytes())
	b.Reset()
	after = matrix("ams")
	after.Host.CPU = "another"
	WriteDiff(&b, before, after, 0.05)
	for _, want := range []string{"different machines", "only in the first", "only in the second"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the difference of different things does not say %q:\n%s", want, b.String())
		}
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	want := matrix("latency")
	if err := want.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, bad := range []string{"", "{", `{"schema": 99}`} {
		if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil {
			t.Errorf("%q is a report", bad)
		}
	}
}

// TestNamesAreDocumented finds every JSON name of a report in docs/perf/json.md.
func TestNamesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/perf/json.md")
	if err != nil {
		t.Fatal(err)
	}
	var look func(t reflect.Type)
	var missing []string
	seen := map[reflect.Type]bool{}
	look = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && !f.Anonymous {
				t.Errorf("%v.%s has no JSON name", typ, f.Name)
			}
			if name != "" && !bytes.Contains(doc, []byte("`"+name+"`")) {
				missing = append(missing, name)
			}
			look(f.Type)
		}
	}
	look(reflect.TypeFor[Report]())
	if len(missing) > 0 {
		t.Errorf("docs/perf/json.md does not name %q", missing)
	}
	// What every result must hold, whatever it measured.
	var m map[string]any
	b, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"workload", "subscribers", "size", "messages",
		"published_per_s", "delivered_per_s", "in_out_per_s", "lost", "gaps", "ceiling_share",
		"cpu_s_per_million_deliveries", "syscalls_per_delivery", "allocs_per_publish",
		"latency_ns", "rss_bytes", "host", "version", "schema"} {
		if _, ok := m[name]; !ok {
			t.Errorf("the JSON has no %q", name)
		}
	}
}
