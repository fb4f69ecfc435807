//go:build !linux

package netio

import "time"

// setUserTimeout does nothing: the idle timeout ends such connections all the same.
func setUserTimeout(uintptr, time.Duration) {}
