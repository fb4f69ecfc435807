package usage

import (
	"runtime"
	"runtime/debug"
	"time"
)

// Sample is what this process has consumed since it started.
type Sample struct {
	At     time.Time
	User   time.Duration // CPU time outside the kernel
	System time.Duration // CPU time in the kernel
	// Switches are context switches: waits, and losses of the core to others.
	Waits, Preemptions uint64
	Mallocs            uint64 // objects allocated
	AllocBytes         uint64
	Collections        uint32
	PauseTotal         time.Duration
	// HostBusy is the CPU time that all programs have had, over all cores, and what a
	// hypervisor gave to others.
	HostBusy time.Duration
}

// Now takes a sample.
func Now() Sample {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s := Sample{At: time.Now(), Mallocs: m.Mallocs, AllocBytes: m.TotalAlloc,
		Collections: m.NumGC, PauseTotal: time.Duration(m.PauseTotalNs), HostBusy: hostBusy()}
	s.rusage()
	return s
}

// CPU is the CPU time in all, in and outside the kernel.
func (s Sample) CPU() time.Duration { return s.User + s.System }

// Since is what was consumed between the sample before and s.
func (s Sample) Since(before Sample) Delta {
	return Delta{
		WallSeconds: s.At.Sub(before.At).Seconds(),
		UserSeconds: (s.User - before.User).Seconds(), SystemSeconds: (s.System - before.System).Seconds(),
		Waits: s.Waits - before.Waits, Preemptions: s.Preemptions - before.Preemptions,
		Mallocs: s.Mallocs - before.Mallocs, AllocBytes: s.AllocBytes - before.AllocBytes,
		HostBusySeconds: (s.HostBusy - before.HostBusy).Seconds(),
		GC:              collections(before, s),
	}
}

// Delta is what a process consumed in a span of time. Its fields travel between processes
// and are part of reports.
type Delta struct {
	WallSeconds     float64 `json:"wall_s"`
	UserSeconds     float64 `json:"cpu_user_s"`
	SystemSeconds   float64 `json:"cpu_system_s"`
	Waits           uint64  `json:"waits"`
	Preemptions     uint64  `json:"preemptions"`
	Mallocs         uint64  `json:"mallocs"`
	AllocBytes      uint64  `json:"alloc_bytes"`
	HostBusySeconds float64 `json:"host_busy_s"`
	GC              GC      `json:"gc"`
}

// CPUSeconds is the CPU time in all.
func (d Delta) CPUSeconds() float64 { return d.UserSeconds + d.SystemSeconds }

// Add sums what two processes consumed; the wall and the host are not of a process, and
// stay as the longer one has them.
func (d Delta) Add(o Delta) Delta {
	d.WallSeconds = max(d.WallSeconds, o.WallSeconds)
	d.HostBusySeconds = max(d.HostBusySeconds, o.HostBusySeconds)
	d.UserSeconds += o.UserSeconds
	d.SystemSeconds += o.SystemSeconds
	d.Waits += o.Waits
	d.Preemptions += o.Preemptions
	d.Mallocs += o.Mallocs
	d.AllocBytes += o.AllocBytes
	d.GC = d.GC.Add(o.GC)
	return d
}

// GC is what the garbage collector did.
type GC struct {
	Collections  uint32 `json:"collections"`
	PauseTotalNS int64  `json:"pause_total_ns"`
	PauseMaxNS   int64  `json:"pause_max_ns"`
}

// Add sums two spans.
func (g GC) Add(o GC) GC {
	return GC{Collections: g.Collections + o.Collections,
		PauseTotalNS: g.PauseTotalNS + o.PauseTotalNS,
		PauseMaxNS:   max(g.PauseMaxNS, o.PauseMaxNS)}
}

// collections says what the collector did between two samples. The longest pause is among
// the last 256 that the runtime remembers.
func collections(before, after Sample) GC {
	g := GC{Collections: after.Collections - before.Collections,
		PauseTotalNS: int64(after.PauseTotal - before.PauseTotal)}
	if g.Collections == 0 {
		return g
	}
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	for i, pause := range stats.Pause {
		if i < len(stats.PauseEnd) && stats.PauseEnd[i].Before(before.At) {
			break
		}
		g.PauseMaxNS = max(g.PauseMaxNS, int64(pause))
	}
	return g
}
