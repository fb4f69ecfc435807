package load

import (
	"time"

	"golang.org/x/sys/unix"
)

func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return time.Now().UnixNano() // as elsewhere
	}
	return t.Nano()
}

// fineTimers asks for sleeps of the calling thread that end when they should: by default
// Linux adds 50 µs.
func fineTimers() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) }

// sleep waits on the thread itself: the runtime's timers are late by up to a millisecond
// where its poller counts in milliseconds.
func sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // a signal ends it early: the caller looks at the clock
}
