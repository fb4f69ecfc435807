package load

import (
	"fmt"
	"time"
)

// Workload is one thing to measure.
type Workload struct {
	// Name is openamq, latency or ams.
	Name        string `json:"workload"`
	Subscribers int    `json:"subscribers"`
	// Bytes is the payload of a message.
	Bytes int `json:"size"`
	// Messages is how many to publish. Zero: as many as Seconds allow.
	Messages int `json:"messages,omitempty"`
	// Seconds bounds the publishing where Messages is zero.
	Seconds float64 `json:"seconds,omitempty"`
	// Rate is messages a second, sent at fixed times whatever happens (an open loop), and
	// asks for latencies. Zero: as fast as the peer takes them.
	Rate int `json:"rate,omitempty"`
}

// Limits of a workload.
const (
	MaxSubscribers = 10_000
	MaxRate        = 10_000_000
	MaxSeconds     = 3_600
	MaxMessages    = 2_000_000_000 // sequences have 32 bits
)

// Check says whether w makes sense.
func (w Workload) Check() error {
	switch {
	case w.Subscribers < 1 || w.Subscribers > MaxSubscribers:
		return fmt.Errorf("load: %d subscribers: 1 to %d", w.Subscribers, MaxSubscribers)
	case w.Bytes < MinBytes || w.Bytes > MaxBytes:
		return fmt.Errorf("load: %d bytes: %d to %d", w.Bytes, MinBytes, MaxBytes)
	case w.Rate < 0 || w.Rate > MaxRate:
		return fmt.Errorf("load: rate %d: 0 to %d", w.Rate, MaxRate)
	case w.Messages < 0 || w.Messages > MaxMessages:
		return fmt.Errorf("load: %d messages: 0 to %d", w.Messages, MaxMessages)
	case w.Messages == 0 && !(w.Seconds > 0 && w.Seconds <= MaxSeconds):
		return fmt.Errorf("load: %g seconds: more than 0, up to %d", w.Seconds, MaxSeconds)
	}
	return nil
}

// Latencies says whether subscribers record latencies.
func (w Workload) Latencies() bool { return w.Rate > 0 }

// Total is the number of messages where that is known before: not if time bounds them.
func (w Workload) Total() (n int, known bool) {
	switch {
	case w.Messages > 0:
		return w.Messages, true
	case w.Rate > 0:
		return max(1, int(float64(w.Rate)*w.Seconds)), true
	}
	return 0, false
}

func (w Workload) duration() time.Duration {
	return time.Duration(w.Seconds * float64(time.Second))
}
