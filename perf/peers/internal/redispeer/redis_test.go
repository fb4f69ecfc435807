package redispeer

import (
	"errors"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/resp"
)

// stream is n messages as a subscriber reads them, after the answer to SUBSCRIBE.
func stream(n, payloadBytes int) []byte {
	b := []byte("*3\r\n$9\r\nsubscribe\r\n$4\r\ntest\r\n:1\r\n")
	p := load.NewPayload(payloadBytes)
	for i := range n {
		load.Put(p, uint32(n-i), uint32(i+1), 0)
		b = resp.AppendCommand(b, "message", load.Topic, string(p))
	}
	return b
}

// Messages arrive whole whichever way the bytes are cut.
func TestReceiverAtEveryCut(t *testing.T) {
	w := load.Workload{Subscribers: 1, Bytes: 30, Messages: 4}
	whole := stream(w.Messages, w.Bytes)
	for cut := range len(whole) {
		var r receiver
		done := 0
		m := load.NewMeter(w, func() { done++ })
		n, err := r.take(whole[:cut], m)
		if err != nil || n > cut {
			t.Fatalf("cut at %d: took %d, %v", cut, n, err)
		}
		if rest, err := r.take(whole[n:], m); err != nil || n+rest != len(whole) {
			t.Fatalf("cut at %d: took %d and %d of %d, %v", cut, n, rest, len(whole), err)
		}
		if got := m.Reading(); got.Received != 4 || got.Disorder+got.Torn != 0 || done != 1 {
			t.Fatalf("cut at %d: %+v, done %d", cut, got, done)
		}
	}
}

func TestReceiverSizesChange(t *testing.T) {
	w := load.Workload{Subscribers: 1, Bytes: 100, Messages: 2}
	b := append(stream(2, 30), stream(2, 100)...)
	var r receiver
	m := load.NewMeter(w, nil)
	if n, err := r.take(b, m); err != nil || n != len(b) {
		t.Fatalf("took %d of %d, %v", n, len(b), err)
	}
	if got := m.Reading(); got.Received != 2 || got.Torn != 2 {
		t.Errorf("%+v", got)
	}
}

func TestReceiverMalformed(t *testing.T) {
	var r receiver
	m := load.NewMeter(load.Workload{Bytes: 30, Messages: 4}, nil)
	b := append(stream(1, 30), "no reply"...)
	if _, err := r.take(b, m); !errors.Is(err, resp.ErrMalformed) {
		t.Errorf("got %v", err)
	}
}

func TestParseUsage(t *testing.T) {
	info := "# CPU\r\nused_cpu_sys:1.250000\r\nused_cpu_user:0.500000\r\n" +
		"used_cpu_sys_children:9.0\r\n# Memory\r\nused_memory:1\r\nused_memory_rss:4096\r\n"
	u, err := parseUsage(info)
	if err != nil || u.CPUSeconds != 1.75 || u.RSSBytes != 4096 {
		t.Errorf("%+v, %v", u, err)
	}
	for _, bad := range []string{"", info[:30], strings.Replace(info, "1.25", "x", 1)} {
		if _, err := parseUsage(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func BenchmarkReceiver(b *testing.B) {
	in := stream(100, 500)
	m := load.NewMeter(load.Workload{Bytes: 500}, nil)
	var r receiver
	for b.Loop() {
		if _, err := r.take(in, m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/msg")
}
