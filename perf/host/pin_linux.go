package host

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin moves the calling goroutine to a thread of its own on the nth core that the process
// may use. The thread ends with the goroutine.
func pin(nth int) {
	runtime.LockOSThread()
	var allowed, one unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return // unpinned will do
	}
	for cpu := range len(allowed) * 64 {
		if !allowed.IsSet(cpu) {
			continue
		}
		if nth == 0 {
			one.Set(cpu)
			_ = unix.SchedSetaffinity(0, &one)
			return
		}
		nth--
	}
}
