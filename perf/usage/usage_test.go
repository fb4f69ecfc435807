package usage

import (
	"runtime"
	"testing"
	"time"
)

func TestSinceCountsWorkAllocationsAndCollections(t *testing.T) {
	before := Now()
	var kept [][]byte
	for range 1000 {
		kept = append(kept, make([]byte, 4096))
	}
	runtime.GC()
	for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
	}
	runtime.KeepAlive(kept)
	d := Now().Since(before)
	if d.Mallocs < 1000 || d.AllocBytes < 4096*1000 {
		t.Errorf("%d objects and %d bytes for 1000 of 4096", d.Mallocs, d.AllocBytes)
	}
	if d.GC.Collections < 1 || d.GC.PauseMaxNS <= 0 || d.GC.PauseMaxNS > d.GC.PauseTotalNS {
		t.Errorf("collections: %+v", d.GC)
	}
	if runtime.GOOS == "linux" && d.CPUSeconds() <= 0 {
		t.Errorf("no CPU time in %v s", d.WallSeconds)
	}
}

func TestAdd(t *testing.T) {
	a := Delta{WallSeconds: 1, UserSeconds: 2, SystemSeconds: 3, Mallocs: 4,
		GC: GC{Collections: 1, PauseTotalNS: 5, PauseMaxNS: 5}}
	b := Delta{WallSeconds: 2, UserSeconds: 1, SystemSeconds: 1, Mallocs: 1,
		GC: GC{Collections: 2, PauseTotalNS: 6, PauseMaxNS: 3}}
	got := a.Add(b)
	want := Delta{WallSeconds: 2, UserSeconds: 3, SystemSeconds: 4, Mallocs: 5,
		GC: GC{Collections: 3, PauseTotalNS: 11, PauseMaxNS: 5}}
	if got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if got.CPUSeconds() != 7 {
		t.Fatalf("CPUSeconds: %v", got.CPUSeconds())
	}
}

func TestParsing(t *testing.T) {
	const status = "Name:\tperf\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nBad:\tx kB\nEnd:"
	for name, want := range map[string]uint64{"VmRSS:": 1 << 20, "VmHWM:": 2 << 20,
		"Bad:": 0, "End:": 0, "None:": 0} {
		if got := statusBytes(status, name); got != want {
			t.Errorf("%s %d, want %d", name, got, want)
		}
	}
	const stat = "cpu  100 10 50 9999 77 5 5 3 0 0\ncpu0 1 1 1 1\n"
	if got := statBusy(stat); got != 1730*time.Millisecond {
		t.Errorf("busy %v, want 1.73s", got)
	}
	for _, bad := range []string{"", "cpu 1 2", "cpu a b c d e f g h", "intr 1 2 3 4 5 6 7 8"} {
		if got := statBusy(bad); got != 0 {
			t.Errorf("%q: busy %v", bad, got)
		}
	}
}
