package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// pacer waits for a time to come. The runtime's own timers may be a millisecond late, which
// would hide what is measured; the kernel's, on a thread without timer slack, are not.
type pacer struct{}

func newPacer() pacer {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it: 50 µs later
	return pacer{}
}

func (pacer) until(t time.Time) {
	if d := time.Until(t); d > 0 {
		ts := unix.NsecToTimespec(int64(d))
		_ = unix.Nanosleep(&ts, nil) // a signal cuts it short: the caller looks again
	}
}

func (pacer) close() { runtime.UnlockOSThread() }
