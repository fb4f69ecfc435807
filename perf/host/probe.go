package host

import (
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

const (
	probeRounds   = 5
	probeSyscalls = 2000
	probeTrips    = 2000
	// probeLimit bounds the wait for another core that is not to be had.
	probeLimit = 200 * time.Millisecond
)

// Probe measures what a system call and a cache line's round trip cost; of several rounds
// the best one counts, since the others were disturbed.
func (f *Fingerprint) Probe() {
	f.SyscallNS = syscallCost()
	if runtime.NumCPU() > 1 && runtime.GOMAXPROCS(0) > 1 {
		f.CacheLineNS = cacheLineCost()
	}
}

func syscallCost() float64 {
	best := time.Duration(1 << 62)
	for range probeRounds {
		start := time.Now()
		for range probeSyscalls {
			os.Getppid()
		}
		best = min(best, time.Since(start))
	}
	return float64(best) / probeSyscalls
}

// cacheLineCost lets two threads on two cores hand one word to and fro.
func cacheLineCost() float64 {
	var ball struct {
		_    [128]byte
		word atomic.Uint64
		_    [128]byte
	}
	const total = probeRounds * probeTrips
	deadline := time.Now().Add(probeLimit)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		pin(1)
		for n := uint64(1); n <= 2*total; n += 2 {
			if !await(&ball.word, n, deadline) {
				return
			}
			ball.word.Store(n + 1)
		}
	}()
	best := make(chan time.Duration)
	go func() {
		pin(0)
		fastest := time.Duration(0)
		start := time.Now()
		for n := uint64(0); n < 2*total; n += 2 {
			ball.word.Store(n + 1)
			if !await(&ball.word, n+2, deadline) {
				break
			}
			if (n+2)%(2*probeTrips) == 0 {
				took := time.Since(start)
				if fastest == 0 || took < fastest {
					fastest = took
				}
				start = time.Now()
			}
		}
		best <- fastest
	}()
	fastest := <-best
	<-gone
	return float64(fastest) / probeTrips
}

// await spins until the word is n; false where that does not happen in time.
func await(word *atomic.Uint64, n uint64, deadline time.Time) bool {
	for spins := 1; word.Load() != n; spins++ {
		if spins%(1<<16) == 0 && time.Now().After(deadline) {
			return false
		}
	}
	return true
}
