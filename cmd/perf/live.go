package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fantail-io/fantail/perf"
	"github.com/fantail-io/fantail/perf/report"
)

// live shows the progress: on a terminal a line that changes, and everywhere one for each
// step that is done.
type live struct {
	w        io.Writer
	terminal bool
	quiet    bool
	last     time.Time
}

func newLive(w io.Writer, quiet bool) *live {
	l := &live{w: w, quiet: quiet}
	if f, ok := w.(*os.File); ok {
		st, err := f.Stat()
		l.terminal = err == nil && st.Mode()&os.ModeCharDevice != 0
	}
	return l
}

// redraw is how often the line may change.
const redraw = 100 * time.Millisecond

func (l *live) show(s perf.Status) {
	if l.quiet || !s.Done && (!l.terminal || time.Since(l.last) < redraw && s.Delivered > 0) {
		return
	}
	l.last = time.Now()
	start, end := "", "\n"
	if l.terminal {
		start = "\r\x1b[K"
	}
	if !s.Done {
		end = ""
	}
	line := fmt.Sprintf("  %s  %-28s", s.Workload, s.Step)
	if s.DeliveredPerS > 0 {
		line += fmt.Sprintf("  %8s delivered/s", report.Rate(s.DeliveredPerS))
	}
	if s.PublishedPerS > 0 {
		line += fmt.Sprintf("  %8s published/s", report.Rate(s.PublishedPerS))
	}
	if s.Delivered > 0 {
		line += fmt.Sprintf("  %s so far", report.Count(s.Delivered))
	}
	if s.Elapsed > 0 && !s.Done {
		line += fmt.Sprintf("  %.1f s", s.Elapsed.Seconds())
	}
	fmt.Fprint(l.w, start+line+end)
}

// clear leaves the line that changes empty.
func (l *live) clear() {
	if l.terminal && !l.quiet {
		fmt.Fprint(l.w, "\r\x1b[K")
	}
}
