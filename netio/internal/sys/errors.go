package sys

import (
	"fmt"

	"github.com/fantail-io/fantail/ring"
)

// UnsupportedError names something that this system does not have, or does not allow. It is
// ring.ErrNotSupported.
type UnsupportedError struct {
	// Feature is what is missing: "io_uring", "epoll".
	Feature string
	// MinKernel is the first kernel that has it: "Linux 5.11".
	MinKernel string
	// Err is what the system answered, or nil where it was not asked.
	Err error
}

// Error says what is missing, what has it, and what the system answered.
func (e *UnsupportedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("sys: no %s here (needs %s): %v", e.Feature, e.MinKernel, e.Err)
	}
	return fmt.Sprintf("sys: no %s here (needs %s)", e.Feature, e.MinKernel)
}

// Is makes every UnsupportedError a ring.ErrNotSupported.
func (e *UnsupportedError) Is(target error) bool { return target == ring.ErrNotSupported }

// Unwrap is what the system answered.
func (e *UnsupportedError) Unwrap() error { return e.Err }
