package hist

import (
	"encoding/json"
	"testing"
	"time"
)

func TestSummary(t *testing.T) {
	h := New()
	if got := h.Summary(); got != (Summary{}) || h.Curve() != nil {
		t.Fatalf("an empty histogram says %+v", got)
	}
	for i := int64(1); i <= 10_000; i++ {
		h.Record(i * 1000)
	}
	s := h.Summary()
	for _, c := range []struct {
		name      string
		got, want int64
	}{{"min", s.Min, 1000}, {"p50", s.P50, 5_000_000}, {"p90", s.P90, 9_000_000},
		{"p99", s.P99, 9_900_000}, {"p999", s.P999, 9_990_000},
		{"p9999", s.P9999, 9_999_000}, {"max", s.Max, 10_000_000}} {
		if off := c.got - c.want; off < -c.want/500 || off > c.want/500 {
			t.Errorf("%s is %d, want %d within 0.2 %%", c.name, c.got, c.want)
		}
	}
	if s.Count != 10_000 {
		t.Errorf("count %d", s.Count)
	}
	curve := h.Curve()
	for i := 1; i < len(curve); i++ {
		if curve[i].NS < curve[i-1].NS || curve[i].Percentile < curve[i-1].Percentile {
			t.Fatalf("the curve falls at %d: %+v", i, curve[i-1:i+1])
		}
	}
	if last := curve[len(curve)-1]; last.Percentile != 100 {
		t.Errorf("the curve ends at %v", last.Percentile)
	}
}

func TestNothingIsLeftOut(t *testing.T) {
	h := New()
	for _, ns := range []int64{-5, 0, 1, int64(Highest), int64(Highest) + 1, 1 << 62} {
		h.Record(ns)
	}
	if got := h.Count(); got != 6 {
		t.Fatalf("%d of 6 were counted", got)
	}
	if got := h.Summary().Max; got < int64(Highest) || got > int64(Highest+Highest/100) {
		t.Fatalf("max %v", time.Duration(got))
	}
}

func TestTravelsBetweenProcesses(t *testing.T) {
	a, b := New(), New()
	for i := int64(1); i < 1000; i++ {
		a.Record(i * i)
		b.Record(i)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var c Histogram
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if c.Summary() != a.Summary() {
		t.Fatalf("%+v became %+v", a.Summary(), c.Summary())
	}
	c.Merge(b)
	if c.Count() != a.Count()+b.Count() {
		t.Fatalf("merged: %d", c.Count())
	}
	c.Record(int64(Highest)) // the range travels too
	if err := json.Unmarshal([]byte(`"no histogram"`), &c); err == nil {
		t.Fatal("text that is none is accepted")
	}
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		h.Record(100_000 + i&0xffff)
	}
}
