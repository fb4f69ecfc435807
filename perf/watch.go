package perf

import (
	"time"

	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/perf/usage"
)

// watch tells the progress, from now until the function that it answers is called, which
// answers how far the round was when.
func (s *spec) watch(c *children, f *flow) (end func() []report.Tick) {
	w := &watcher{spec: s, children: c, flow: f, began: time.Now(), stop: make(chan struct{}),
		done: make(chan struct{})}
	w.ticks = make([]report.Tick, 1, 64)
	go w.loop()
	return func() []report.Tick {
		close(w.stop)
		<-w.done
		return w.ticks
	}
}

// longRun is from when on, in seconds, memory is watched: reading it is work, and short runs
// have no time to leak.
const longRun = 10

type watcher struct {
	spec       *spec
	children   *children
	flow       *flow
	began      time.Time
	ticks      []report.Tick
	stop, done chan struct{}
}

func (w *watcher) loop() {
	defer close(w.done)
	ticker := time.NewTicker(tellEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.look()
		case <-w.stop:
			return
		}
	}
}

func (w *watcher) look() {
	published := max(w.flow.published.Load(), w.children.published.Load())
	t := report.Tick{Seconds: time.Since(w.began).Seconds(), Published: published,
		Delivered: w.children.sum()}
	before := w.ticks[len(w.ticks)-1]
	if t.Seconds > longRun {
		t.RSS, _ = usage.Resident()
	}
	w.ticks = append(w.ticks, t)
	took := t.Seconds - before.Seconds
	w.spec.Progress(Status{Workload: w.spec.workload, Step: w.spec.step,
		Elapsed: time.Since(w.began), Published: t.Published, Delivered: t.Delivered,
		PublishedPerS: per(float64(t.Published-before.Published), took),
		DeliveredPerS: per(float64(t.Delivered-min(t.Delivered, before.Delivered)), took)})
}
