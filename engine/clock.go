package engine

import "time"

// clock answers wall time by adding the monotonic clock to one reading of the wall clock:
// one cheap call a message, and no step when the wall clock is set. It follows the wall
// clock's rate, not its corrections.
type clock struct {
	start time.Time
	unix  int64
}

func newClock() clock {
	now := time.Now()
	return clock{start: now, unix: now.UnixNano()}
}

func (c *clock) now() int64 { return c.unix + int64(time.Since(c.start)) }
