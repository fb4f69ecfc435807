package wait

import (
	"fmt"
	"runtime"
)

// Strategy is what a poller does between two polls that found nothing.
type Strategy uint8

const (
	// Adaptive spins for some microseconds, then parks: the default. An idle poller costs
	// nothing, a busy one no system call.
	Adaptive Strategy = iota
	// Busy never gives up its core. For cores that nothing else needs.
	Busy
	// Yield offers the core to other goroutines between polls and never parks. Not for
	// goroutines locked to a thread, where each offer costs some 28 µs.
	Yield
	// Park sleeps as soon as there is nothing to do.
	Park
)

var strategyNames = [...]string{"adaptive", "busy", "yield", "park"}

// String is the strategy's name as flags and reports write it.
func (s Strategy) String() string {
	if int(s) < len(strategyNames) {
		return strategyNames[s]
	}
	return fmt.Sprintf("strategy(%d)", uint8(s))
}

// ParseStrategy is the inverse of String.
func ParseStrategy(name string) (Strategy, error) {
	for i, n := range strategyNames {
		if n == name {
			return Strategy(i), nil
		}
	}
	return 0, fmt.Errorf("wait: no strategy is called %q; there are %v", name, strategyNames)
}

// spinPolls is how often Adaptive polls before it parks: at some 50 ns a poll, about what
// two wake-ups cost.
const spinPolls = 400

// Idler counts the polls that found nothing. The zero Idler is Adaptive.
type Idler struct {
	Strategy Strategy
	idle     int
}

// Reset says that there was work.
func (i *Idler) Reset() { i.idle = 0 }

// Idle waits as the strategy says, for at most some microseconds, and reports whether the
// caller should now arm its bell, poll once more, and sleep.
func (i *Idler) Idle() (park bool) {
	switch i.Strategy {
	case Park:
		return true
	case Busy:
		pause()
		return false
	case Yield:
		runtime.Gosched()
		return false
	}
	i.idle++
	if i.idle >= spinPolls && SpinAllowed() || i.idle >= 2 && !SpinAllowed() {
		i.idle = 0
		return true
	}
	pause()
	return false
}

// SpinAllowed reports whether there is a second core for whoever would end the wait.
func SpinAllowed() bool { return spinAllowed }

var spinAllowed = min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) > 1

// pause lets some 40 ns pass. It is an ordinary call with a stack check, so that a polling
// loop can be stopped by the garbage collector.
//
//go:noinline
func pause() {
	x := uint32(1)
	for range 32 {
		x = x*1664525 + 1013904223
	}
	if x == 0 {
		runtime.Gosched()
	}
}
