//go:build unix

package worker

import (
	"fmt"
	"syscall"
)

// Pause stops the child where it is, as a debugger or a full disk might.
func (p *Process) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume lets a paused child go on.
func (p *Process) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Process) signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("worker: %s: %v: %w", p.job, s, err)
	}
	return nil
}
