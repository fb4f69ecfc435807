package wait

import (
	"runtime"
	"testing"
)

func TestIdlerParksAsItsStrategySays(t *testing.T) {
	adaptive := spinPolls
	if !SpinAllowed() {
		adaptive = 2
	}
	for strategy, want := range map[Strategy]int{Adaptive: adaptive, Park: 1, Busy: 0, Yield: 0} {
		i := Idler{Strategy: strategy}
		for range 2 { // having parked, or worked, it starts anew
			got := 0
			for n := 1; n <= 2*spinPolls && got == 0; n++ {
				if i.Idle() {
					got = n
				}
			}
			if got != want {
				t.Errorf("%v parks after %d polls, want %d", strategy, got, want)
			}
			i.Reset()
		}
	}
}

func TestIdlerCountsFromTheLastWork(t *testing.T) {
	var i Idler
	for range 10 * spinPolls {
		if i.Idle() {
			t.Fatal("parked although there was work")
		}
		i.Reset()
	}
}

func TestStrategyNames(t *testing.T) {
	for s := range Strategy(len(strategyNames)) {
		if got, err := ParseStrategy(s.String()); err != nil || got != s {
			t.Errorf("%v became %v, %v", s, got, err)
		}
	}
	if _, err := ParseStrategy("nap"); err == nil {
		t.Error("nap is a strategy")
	}
	if got := Strategy(9).String(); got != "strategy(9)" {
		t.Error(got)
	}
}

// A goroutine that spins can be stopped, also where it never gives up its core.
func TestBusyIdlerCanBePreempted(t *testing.T) {
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		i := Idler{Strategy: Busy}
		for {
			i.Idle()
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	runtime.GC() // stops the world
	close(stop)
	<-done
}
