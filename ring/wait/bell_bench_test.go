package wait

import (
	"fmt"
	"testing"
)

// BenchmarkWake is what a waker pays: while nobody is armed, and for each sleeper that it
// wakes.
func BenchmarkWake(b *testing.B) {
	b.Run("armed=0", func(b *testing.B) {
		var g Group
		for range 64 {
			defer g.NewSleeper().Close()
		}
		for b.Loop() {
			g.Wake()
		}
	})
	for _, c := range []struct{ armed, of int }{{1, 1}, {1, 64}, {64, 64}, {1, 1000}, {1000, 1000}} {
		b.Run(fmt.Sprintf("armed=%d/of=%d", c.armed, c.of), func(b *testing.B) {
			var g Group
			sleepers := make([]*Sleeper, c.of)
			for i := range sleepers {
				sleepers[i] = g.NewSleeper()
				defer sleepers[i].Close()
			}
			for b.Loop() { // Arm and the channel's receive included
				for _, s := range sleepers[:c.armed] {
					s.Arm()
				}
				g.Wake()
				for _, s := range sleepers[:c.armed] {
					<-s.C()
				}
			}
		})
	}
}

// BenchmarkSleepAndWake is a round trip between two goroutines that park.
func BenchmarkSleepAndWake(b *testing.B) {
	var there, back Group
	a, z := there.NewSleeper(), back.NewSleeper()
	defer a.Close()
	defer z.Close()
	a.Arm()
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-a.C():
				a.Arm()
				back.Wake()
			case <-stop:
				return
			}
		}
	}()
	for b.Loop() {
		z.Arm()
		there.Wake()
		<-z.C()
	}
	close(stop)
	<-done
}

// BenchmarkIdle is one poll's pause.
func BenchmarkIdle(b *testing.B) {
	i := Idler{Strategy: Busy}
	for b.Loop() {
		i.Idle()
	}
}
