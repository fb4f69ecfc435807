package wait

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring/ringtest"
)

func TestMain(m *testing.M) { ringtest.Main(m) }

func TestBellRingsOncePerArm(t *testing.T) {
	var g Group
	rung := 0
	b := g.NewBell(func() { rung++ })
	g.Wake()
	if rung != 0 {
		t.Error("rung unarmed")
	}
	for want := 1; want < 4; want++ {
		b.Arm()
		b.Arm()
		g.Wake()
		g.Wake()
		if rung != want || g.parked.Load() != 0 {
			t.Fatalf("rung %d times, want %d; %d parked", rung, want, g.parked.Load())
		}
	}
	b.Arm()
	b.Disarm()
	b.Disarm()
	g.Wake()
	if rung != 3 || g.parked.Load() != 0 {
		t.Errorf("rung %d times; %d parked", rung, g.parked.Load())
	}
	b.Arm()
	b.Close()
	g.Wake()
	for range 2 {
		b.Close()
		b.Arm() // does nothing
		g.Wake()
	}
	other := g.NewBell(func() { rung += 100 }) // in the same place
	other.Arm()
	b.Disarm()
	b.Close()
	g.Wake()
	if rung != 103 {
		t.Error("a closed bell has disarmed another")
	}
	rung -= 100
	other.Close()
	c := (*g.chunks.Load())[0]
	if rung != 3 || g.parked.Load() != 0 || c.used != 0 || c.armed.Load() != 0 {
		t.Errorf("rung %d times; %d parked, %x used, %x armed", rung, g.parked.Load(), c.used,
			c.armed.Load())
	}
}

// A thousand bells come and go: places are used again, and everybody has his own.
func TestGroupOfManyBells(t *testing.T) {
	var g Group
	random := rand.New(rand.NewPCG(1, 2))
	type counted struct {
		*Bell
		rung, want int
	}
	var bells []*counted
	for range 20 {
		for len(bells) < 1000 {
			c := &counted{}
			c.Bell = g.NewBell(func() { c.rung++ })
			bells = append(bells, c)
		}
		for _, c := range bells {
			if random.IntN(3) == 0 {
				c.Arm()
				c.want++
			}
		}
		g.Wake()
		for _, c := range bells {
			if c.rung != c.want {
				t.Fatalf("rung %d times, want %d", c.rung, c.want)
			}
		}
		bells = slices.DeleteFunc(bells, func(c *counted) bool {
			if random.IntN(2) > 0 {
				return false
			}
			c.Arm()
			c.Close()
			return true
		})
	}
	if n := len(*g.chunks.Load()); n != 16 || g.parked.Load() != 0 {
		t.Errorf("%d chunks for a thousand bells, %d parked", n, g.parked.Load())
	}
}

func TestWakeRingsAllArmed(t *testing.T) {
	var g Group
	rung := make([]int, 10)
	bells := make([]*Bell, len(rung))
	for i := range bells {
		bells[i] = g.NewBell(func() { rung[i]++ })
		if i%2 == 0 {
			bells[i].Arm()
		}
	}
	bells[3].Close()
	bells[4].Close()
	g.Wake()
	for i, n := range rung {
		if want := 1 - i%2; n != want && i != 4 || i == 4 && n != 0 {
			t.Errorf("bell %d rang %d times", i, n)
		}
	}
}

func TestSleeper(t *testing.T) {
	var g Group
	s := g.NewSleeper()
	defer s.Close()
	for range 3 { // a value that nobody took never blocks a waker
		s.Arm()
		g.Wake()
	}
	<-s.C()
	select {
	case <-s.C():
		t.Error("woken twice")
	default:
	}
}

// While a bell is armed, whoever has something to do for its waiter must find the group not
// empty; otherwise the waiter sleeps on. So at no time are fewer parked than armed.
func TestParkedIsNeverLessThanArmed(t *testing.T) {
	var g Group
	bells := make([]*Bell, 3)
	for i := range bells {
		bells[i] = g.NewBell(func() {})
	}
	var done atomic.Bool
	var wakers sync.WaitGroup
	for range 2 {
		wakers.Go(func() {
			for !done.Load() {
				g.wake()
				runtime.Gosched()
			}
		})
	}
	rounds := 100_000
	if testing.Short() {
		rounds = 10_000
	}
	var waiters sync.WaitGroup
	for _, b := range bells {
		waiters.Go(func() {
			for range rounds {
				b.Arm()
				if g.parked.Load() <= 0 && b.chunk.armed.Load()&b.bit != 0 {
					t.Errorf("%d parked while one is armed", g.parked.Load())
					return
				}
				b.Disarm()
			}
		})
	}
	waiters.Wait()
	done.Store(true)
	wakers.Wait()
	if n := g.parked.Load(); n != 0 {
		t.Errorf("%d parked at the end", n)
	}
}

// Sleepers that have looked twice, and wakers that make something to do before they wake:
// nobody sleeps while there is something to do.
func TestStressNoWakeUpIsLost(t *testing.T) {
	rounds := 50_000
	if testing.Short() {
		rounds = 5_000
	}
	const sleepers, wakers = 4, 2
	var (
		g     Group
		made  atomic.Int64
		wg    sync.WaitGroup
		total = int64(rounds * wakers)
	)
	for range sleepers {
		s := g.NewSleeper()
		wg.Go(func() {
			defer s.Close()
			timeout := time.NewTimer(time.Minute)
			defer timeout.Stop()
			for seen := int64(0); seen < total; {
				if now := made.Load(); now > seen {
					seen = now
					continue
				}
				s.Arm()
				if made.Load() > seen {
					s.Disarm()
					continue
				}
				select {
				case <-s.C():
				case <-timeout.C:
					t.Errorf("asleep at %d of %d", seen, made.Load())
					return
				}
			}
		})
	}
	for range wakers {
		wg.Go(func() {
			for i := range rounds {
				made.Add(1)
				g.Wake()
				if i%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
}

// Bells come and go while others are rung; after Close, ring is never running.
func TestStressBellsComeAndGo(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	var g Group
	var done atomic.Bool
	var wakers, owners sync.WaitGroup
	for range 2 {
		wakers.Go(func() {
			for !done.Load() {
				g.Wake()
				runtime.Gosched()
			}
		})
	}
	for range 3 {
		owners.Go(func() {
			for range rounds {
				open := true // plain: the race detector watches it, too
				b := g.NewBell(func() {
					if !open {
						t.Error("rung after Close")
					}
				})
				b.Arm()
				runtime.Gosched()
				b.Close()
				open = false
			}
		})
	}
	owners.Wait()
	done.Store(true)
	wakers.Wait()
}
