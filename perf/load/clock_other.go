//go:build !linux

package load

import "time"

func monotonic() int64 { return time.Now().UnixNano() }

func fineTimers() {}

func sleep(d time.Duration) { time.Sleep(d) }
