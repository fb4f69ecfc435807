package ceiling

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/fantail-io/fantail/perf/worker"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/ringtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == worker.Arg {
		c := worker.Config{Jobs: map[string]worker.Job{ReaderJob: Read}, Exit: os.Exit}
		if worker.Serve(os.Args[2], os.Stdin, os.Stdout, c) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	ringtest.Main(m)
}

func TestBufferIsFramesFromEveryStart(t *testing.T) {
	for _, c := range []Config{{PayloadBytes: 500, WriteBytes: 64 << 10},
		{PayloadBytes: 20_000, WriteBytes: 512}, {PayloadBytes: 0, WriteBytes: 1000}} {
		b, period := c.buffer()
		if len(b) != period+c.WriteBytes || period%c.frameBytes() != 0 {
			t.Fatalf("%+v: %d bytes, a period of %d", c, len(b), period)
		}
		for at := 0; at < period; at += c.frameBytes() {
			h, payload, n, err := frame.Parse(b[at:period], frame.MaxBytes)
			if err != nil || n != c.frameBytes() || len(payload) != c.PayloadBytes ||
				h.Kind != frame.Data {
				t.Fatalf("%+v: at %d: %+v, %d bytes, %v", c, at, h, n, err)
			}
		}
		if !bytes.Equal(b[period:], append(b[:period:period], b...)[period:][:c.WriteBytes]) {
			t.Fatalf("%+v: what follows the period is not its start", c)
		}
	}
}

func TestConfigLimits(t *testing.T) {
	for _, c := range []Config{{Subscribers: -1}, {Subscribers: 10_001}, {PayloadBytes: -1},
		{PayloadBytes: 1 << 20}, {WriteBytes: 1}, {WriteBytes: 1 << 30}, {Duration: -1}} {
		if _, err := c.withDefaults(); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	c, err := Config{}.withDefaults()
	if err != nil || c.Subscribers != 64 || c.WriteBytes != 64<<10 {
		t.Errorf("the zero Config is %+v, %v", c, err)
	}
}

func TestRunCountsWhatWasRead(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := Run(ctx, Config{Subscribers: 3, PayloadBytes: 100, WriteBytes: 8 << 10,
		Duration: 20 * time.Millisecond})
	if errors.Is(err, ring.ErrNotSupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.Bytes == 0 || r.Writes == 0 || r.Reads == 0 || r.PerSecond <= 0 {
		t.Fatalf("nothing came through: %+v", r)
	}
	if want := float64(r.Bytes) / 136; r.Deliveries != want {
		t.Fatalf("%v deliveries, want %v", r.Deliveries, want)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, Config{Subscribers: 1, Duration: time.Hour}); err == nil {
		t.Fatal("a run whose context has ended succeeds")
	}
}
