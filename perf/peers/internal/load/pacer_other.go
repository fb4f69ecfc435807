//go:build !linux

package load

import "time"

// pacer waits for a time to come, as well as the runtime's timers do.
type pacer struct{}

func newPacer() pacer { return pacer{} }

func (pacer) until(t time.Time) { time.Sleep(time.Until(t)) }

func (pacer) close() {}
