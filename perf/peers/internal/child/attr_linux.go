package child

import "syscall"

// attributes put a child into a group of its own, so that Ctrl-C reaches the parent alone,
// which then ends its children in order; and let the kernel kill it when the parent dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
