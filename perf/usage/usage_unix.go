//go:build unix

package usage

import (
	"syscall"
	"time"
)

func (s *Sample) rusage() {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return // zero says that it is not known
	}
	s.User = time.Duration(r.Utime.Nano())
	s.System = time.Duration(r.Stime.Nano())
	s.Waits, s.Preemptions = uint64(r.Nvcsw), uint64(r.Nivcsw)
}
