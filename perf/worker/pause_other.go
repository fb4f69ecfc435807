//go:build !unix

package worker

import (
	"fmt"

	"github.com/fantail-io/fantail/ring"
)

// Pause is not supported here.
func (p *Process) Pause() error {
	return fmt.Errorf("worker: %w: a process cannot be stopped on this system",
		ring.ErrNotSupported)
}

// Resume is not supported here.
func (p *Process) Resume() error { return nil }
