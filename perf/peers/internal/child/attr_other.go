//go:build !linux

package child

import "syscall"

// attributes are the system's defaults: children of this program end with their standard
// input, and others when the parent closes them.
func attributes() *syscall.SysProcAttr { return nil }
