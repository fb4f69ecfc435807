package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestHTMLNeedsNothingElse(t *testing.T) {
	for _, r := range []*Report{sample(), matrix("ams"), matrix("sweep"), matrix("latency"),
		{Schema: Schema, Result: Result{Workload: "empty"}}} {
		b, err := r.HTML()
		if err != nil {
			t.Fatal(err)
		}
		page := string(b)
		for _, bad := range []string{"http:", "https:", "src=", "@import", "url(", "<script",
			"NaN", "+Inf", "ZgotmplZ"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: the page has %q in it", r.Workload, bad)
			}
		}
		if strings.Contains(page, "Zweig <9000>") {
			t.Errorf("%s: a name is not escaped", r.Workload)
		}
		if !strings.Contains(page, "prefers-color-scheme: dark") {
			t.Errorf("%s: no dark colours", r.Workload)
		}
	}
}

func TestChartsAreWellFormed(t *testing.T) {
	for _, r := range []*Report{sample(), matrix("ams"), matrix("sweep"), matrix("latency")} {
		list := plots(r)
		if len(list) == 0 {
			t.Errorf("%s: %d plots", r.Workload, len(list))
		}
		for _, p := range list {
			d := xml.NewDecoder(strings.NewReader("<x>" + string(p.Chart) + "</x>"))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %q: %v", r.Workload, p.Title, err)
				}
			}
		}
	}
}

func TestScales(t *testing.T) {
	s := newScale([]float64{3, 47}, 0, 100, false)
	if s.low != 0 || s.high != 50 || s.at(25) != 50 || len(s.ticks()) != 6 {
		t.Errorf("linear: %+v, ticks %v", s, s.ticks())
	}
	s = newScale([]float64{20, 4000}, 0, 300, true)
	if s.low != 10 || s.high != 10_000 || math.Abs(s.at(100)-100) > 1e-6 {
		t.Errorf("logarithmic: %+v, 100 is at %v", s, s.at(100))
	}
	for _, log := range []bool{false, true} {
		for _, values := range [][]float64{nil, {0}, {-1}, {7}, {math.NaN()}, {5, 5},
			{math.Inf(1)}} {
			s := newScale(values, 10, 20, log)
			ticks := s.ticks()
			if at := s.at(5); math.IsNaN(at) || at < 10 || at > 20 || len(ticks) == 0 ||
				len(ticks) > 30 {
				t.Errorf("%v, log %v: %+v, ticks %v", values, log, s, ticks)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Rate(0), "0"}, {Rate(950), "950"}, {Rate(9_999), "9999"}, {Rate(184_213), "184 K"},
		{Rate(11_789_657), "11.8 M"}, {Rate(999_600_000), "1.00 G"},
		{Count(0), "0"}, {Count(999), "999"}, {Count(1_234_567), "1,234,567"},
		{whole(-1234.4), "-1,234"},
		{Bytes(12), "12 B"}, {Bytes(65536), "64.0 KiB"}, {Bytes(3 << 30), "3.00 GiB"},
		{Span(12), "12 ns"}, {Span(230_400), "230 µs"}, {Span(1_500_000), "1.50 ms"},
		{Span(2e9), "2.00 s"}, {Percent(0.8461), "84.6 %"}, {digits(0.00521), "0.00521"},
		{digits(99.96), "100"}, {digits(0.0000884), "0.0000884"}, {digits(0), "0"},
		{digits(0.09), "0.09"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if got := MbpsSeed(11_560, 20); math.Abs(got-1.764) > 0.001 {
		t.Errorf("the AMS benchmark's Mbps: %v, want 1.764", got)
	}
}

func TestGoBench(t *testing.T) {
	var b strings.Builder
	WriteGoBench(&b, sample())
	want := "BenchmarkOpenamq/subs=64/size=500/embedded-2 1 86.81 ns/delivery 11520000 deliveries/s"
	if !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
	if got := strings.Count(b.String(), "\nBenchmark"); got != 2 {
		t.Errorf("%d lines for 2 rounds", got)
	}
}
