package load

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// fake gives what is published to meters.
type fake struct {
	meters   []*Meter
	drop     func(sequence int) bool
	n        int
	sent     int
	finished bool
	err      error
}

func (f *fake) Publish(_ context.Context, b []byte) error {
	f.n++
	if f.drop != nil && f.drop(f.n) {
		return f.err
	}
	for _, m := range f.meters {
		m.Take(b)
	}
	return f.err
}

func (f *fake) Send(context.Context) error   { f.sent++; return nil }
func (f *fake) Finish(context.Context) error { f.finished = true; return nil }
func (f *fake) Close() error                 { return nil }

func TestPublishCounted(t *testing.T) {
	for _, size := range []int{MinBytes, 21, 500, 20_000} {
		w := Workload{Subscribers: 2, Bytes: size, Messages: 1000}
		done := 0
		f := &fake{}
		for range w.Subscribers {
			f.meters = append(f.meters, NewMeter(w, func() { done++ }))
		}
		p, err := Publish(t.Context(), w, f)
		if err != nil || p.Messages != 1000 || !f.finished || done != 2 {
			t.Fatalf("published %+v, %v; finished %v, done %d", p, err, f.finished, done)
		}
		for _, m := range f.meters {
			r := m.Reading()
			if r.Received != 1000 || r.Disorder+r.Torn != 0 || r.FirstNanos < p.FirstNanos ||
				r.LastNanos < r.FirstNanos || m.Latencies() != nil {
				t.Errorf("size %d: reading %+v", size, r)
			}
		}
	}
}

// The AMS benchmark's meter reads the first word: it counts down to 1.
func TestPayloadCountsDown(t *testing.T) {
	b := NewPayload(20)
	Put(b, 7, 3, 99)
	if binary.BigEndian.Uint32(b) != 7 || binary.BigEndian.Uint32(b[4:]) != 3 ||
		binary.BigEndian.Uint64(b[8:]) != 99>>32<<32|uint64(binary.BigEndian.Uint32(b[12:])) ||
		binary.BigEndian.Uint32(b[16:]) != 3 {
		t.Errorf("payload % x", b)
	}
}

func TestPublishForATime(t *testing.T) {
	w := Workload{Subscribers: 1, Bytes: 50, Seconds: 0.02}
	done := 0
	f := &fake{meters: []*Meter{NewMeter(w, func() { done++ })}}
	p, err := Publish(t.Context(), w, f)
	if err != nil || p.Messages < lookEvery || done != 1 ||
		p.LastNanos-p.FirstNanos < int64(20*time.Millisecond) {
		t.Errorf("published %+v, %v, done %d", p, err, done)
	}
	if r := f.meters[0].Reading(); r.Received != uint64(p.Messages) || r.Disorder+r.Torn != 0 {
		t.Errorf("reading %+v of %d", r, p.Messages)
	}
}

func TestMeterSeesLossOrderAndTears(t *testing.T) {
	w := Workload{Subscribers: 1, Bytes: 50, Messages: 100}
	f := &fake{meters: []*Meter{NewMeter(w, nil)},
		drop: func(n int) bool { return n == 5 || n == 50 || n == 51 || n == 100 }}
	if _, err := Publish(t.Context(), w, f); err != nil {
		t.Fatal(err)
	}
	m := f.meters[0]
	if r := m.Reading(); r.Received != 96 || r.Disorder != 2 || r.Torn != 0 || r.LastNanos != 0 {
		t.Errorf("lossy: %+v", r)
	}
	b := NewPayload(50)
	Put(b, 2, 100, 0)
	m.Take(b)
	m.Take(b)              // again: out of order
	m.Take(b[:49])         // cut
	Put(b[:46], 2, 101, 0) // torn: the end is the last message's
	m.Take(b)
	if r := m.Reading(); r.Received != 99 || r.Disorder != 3 || r.Torn != 2 {
		t.Errorf("damaged: %+v", r)
	}
}

func TestPublishPaced(t *testing.T) {
	w := Workload{Subscribers: 1, Bytes: 50, Rate: 10_000, Seconds: 0.05}
	done := 0
	f := &fake{meters: []*Meter{NewMeter(w, func() { done++ })}}
	p, err := Publish(t.Context(), w, f)
	if err != nil || p.Messages != 500 || done != 1 || f.sent == 0 {
		t.Fatalf("published %+v, %v; done %d, sent %d", p, err, done, f.sent)
	}
	if took := p.LastNanos - p.FirstNanos; took < int64(49*time.Millisecond) {
		t.Errorf("500 messages at 10,000/s took %v", time.Duration(took))
	}
	if r := f.meters[0].Reading(); r.Received != 500 || r.Disorder+r.Torn != 0 {
		t.Errorf("reading %+v", r)
	}
	if q := f.meters[0].Latencies().Quantiles(); q.Count != 450 || q.P50 <= 0 || q.Max < q.P50 {
		t.Errorf("latencies %+v", q)
	}
	late := NewLatencies()
	late.Add(p.Late)
	if n := late.Quantiles().Count; n != 450 {
		t.Errorf("%d times late, want 450", n)
	}
}

// A publisher that stalls must not hide it: messages that were due meanwhile are late.
func TestPacedLatencyCountsFromDueTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := Workload{Subscribers: 1, Bytes: 50, Rate: 100, Messages: 100}
		f := &fake{meters: []*Meter{NewMeter(w, nil)}}
		f.drop = func(n int) bool {
			if n == 50 {
				time.Sleep(200 * time.Millisecond) // the bubble's clock: 20 messages fall due
			}
			return false
		}
		sleep := func(until time.Time) { time.Sleep(time.Until(until)) }
		if _, err := publishPaced(t.Context(), w, f, sleep); err != nil {
			t.Fatal(err)
		}
		m := f.meters[0]
		if q := m.Latencies().Quantiles(); q.Max < int64(199*time.Millisecond) ||
			q.P90 < int64(80*time.Millisecond) || q.P50 > int64(time.Millisecond) {
			t.Errorf("latencies %+v", q)
		}
	})
}

func TestPublishEndsWithErrorsAndContext(t *testing.T) {
	broken := errors.New("broken")
	for _, w := range []Workload{{Subscribers: 1, Bytes: 50, Messages: 1 << 30},
		{Subscribers: 1, Bytes: 50, Rate: 1000, Seconds: 3600}} {
		if _, err := Publish(t.Context(), w, &fake{err: broken}); !errors.Is(err, broken) {
			t.Errorf("%+v: %v", w, err)
		}
		why := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if _, err := Publish(ctx, w, &fake{}); !errors.Is(err, why) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

func TestLatenciesTravel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	l, again := NewLatencies(), NewLatencies()
	var all []int64
	for range 10_000 {
		ns := int64(1) << rng.IntN(36)
		ns += rng.Int64N(ns)
		all = append(all, ns)
		l.Record(ns)
	}
	again.Add(l.Bars())
	if got, want := again.Quantiles(), l.Quantiles(); got != want {
		t.Errorf("after travelling %+v, before %+v", got, want)
	}
	slices.Sort(all)
	p99 := all[9900]
	if got := l.Quantiles().P99; got < p99*99/100 || got > p99*101/100 {
		t.Errorf("p99 %d, want %d", got, p99)
	}
	l.Record(-5)
	l.Record(1 << 62)
	l.Merge(nil)
	l.Merge(again)
	if n := l.Quantiles().Count; n != 20_002 {
		t.Errorf("%d latencies", n)
	}
}

func TestWorkloadCheck(t *testing.T) {
	good := Workload{Subscribers: 1, Bytes: MinBytes, Messages: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, bad := range []Workload{{}, {Subscribers: 1, Bytes: 19, Messages: 1},
		{Subscribers: 1, Bytes: MaxBytes + 1, Messages: 1}, {Subscribers: 1, Bytes: 500},
		{Subscribers: 1, Bytes: 500, Seconds: -1}, {Subscribers: 1, Bytes: 500, Messages: -1},
		{Subscribers: 1, Bytes: 500, Messages: 1, Rate: -1},
		{Subscribers: MaxSubscribers + 1, Bytes: 500, Messages: 1}} {
		if bad.Check() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

func TestZeroAllocMeter(t *testing.T) {
	m := NewMeter(Workload{Bytes: 500, Rate: 1}, nil)
	b := NewPayload(500)
	Put(b, 2, 1, time.Now().UnixNano())
	if n := testing.AllocsPerRun(100, func() { m.Take(b) }); n > 0 {
		t.Errorf("%g allocations a message", n)
	}
}

func BenchmarkMeter(b *testing.B) {
	m := NewMeter(Workload{Bytes: 500}, nil)
	p := NewPayload(500)
	Put(p, 2, 1, 0)
	for b.Loop() {
		m.Take(p)
	}
}
