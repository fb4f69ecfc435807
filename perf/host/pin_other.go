//go:build !linux

package host

import "runtime"

func pin(int) { runtime.LockOSThread() }
