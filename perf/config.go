package perf

import (
	"errors"
	"fmt"
	"time"

	"github.com/fantail-io/fantail/perf/load"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// Publishers: where the messages come from.
const (
	Embedded = "embedded" // a goroutine of the server's process
	TCP      = "tcp"      // a process of its own, over loopback TCP
	Both     = "both"     // one after the other, alternating
)

// Config is what all workloads have in common. The zero Config works: 1 publisher in the
// server, 64 subscribers, 500 bytes, as OpenAMQ was measured.
type Config struct {
	// Subscribers is how many connections get every message: 1 to 10,000. Zero: 64.
	Subscribers int
	// Processes is how many processes they share. Zero: 1. At most Subscribers and 256.
	Processes int
	// Size is the payload's bytes: 1 to the largest frame less its header. Zero: 500.
	Size int
	// Messages is how many are published in a round. Zero: as many as Duration has time for.
	Messages uint64
	// Duration is how long a round publishes where Messages is zero: to 1 h. Zero: 2 s.
	Duration time.Duration
	// Rounds is how often it is measured; rates are the rounds' medians. Zero: 3. At most 100.
	Rounds int
	// Publisher is Embedded, TCP or Both. Empty: Embedded.
	Publisher string
	// Batch is how many messages the embedded publisher hands over in one call: 1 to 4096.
	// Zero: 32. One is a call for each.
	Batch int
	// Rate makes the loop an open one: that many messages are due each second. Zero: as fast
	// as they go.
	Rate float64
	// Policy is what the subscribers ask for. Zero: Wait, so that nothing is lost.
	Policy ring.Policy
	// Ceiling is how long the bare kernel is measured beside each round. Zero: 1.5 s.
	// Negative: not at all.
	Ceiling time.Duration
	// CeilingWrite is what one write of the ceiling offers, in bytes. Zero: whole segments,
	// up to 64 KiB.
	CeilingWrite int

	// StreamBytes is the memory of the server's stream. Zero: DefaultStreamBytes.
	StreamBytes int
	// Shards, Sender and SubmitBytes are the door's; zero: its defaults.
	Shards      int
	Sender      string
	SubmitBytes int

	// Progress is told how things stand, about four times a second. Nil: nobody is.
	Progress func(Status)
	// Profile are arguments that every child's command line gets. They are the program's own.
	ChildArgs func(job string, number int) []string
}

// DefaultStreamBytes is the stream of a measurement: 16 MiB. A publisher that never pauses
// fills whatever there is, and a stream that fits the caches is read from there.
const DefaultStreamBytes = 16 << 20

const (
	maxSubscribers = 10_000
	maxProcesses   = 256
	maxRounds      = 100
	maxBatch       = 4096
)

// errConfig is what a Config that cannot be run comes to.
var errConfig = errors.New("perf: bad configuration")

func (c Config) withDefaults() (Config, error) {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	set(&c.Subscribers, 64)
	set(&c.Processes, 1)
	set(&c.Size, 500)
	set(&c.Rounds, 3)
	set(&c.Batch, 32)
	set(&c.StreamBytes, DefaultStreamBytes)
	if c.Duration == 0 {
		c.Duration = 2 * time.Second
	}
	if c.Ceiling == 0 {
		c.Ceiling = 1500 * time.Millisecond
	}
	if c.Publisher == "" {
		c.Publisher = Embedded
	}
	if c.Policy.Kind == ring.PolicyDefault {
		c.Policy.Kind = ring.PolicyWait
	}
	if c.Progress == nil {
		c.Progress = func(Status) {}
	}
	for _, v := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"subscribers", c.Subscribers, 1, maxSubscribers},
		{"processes", c.Processes, 1, min(c.Subscribers, maxProcesses)},
		{"size", c.Size, 1, frame.MaxBytes - frame.HeaderBytes},
		{"rounds", c.Rounds, 1, maxRounds},
		{"batch", c.Batch, 1, maxBatch},
	} {
		if v.value < v.least || v.value > v.most {
			return c, fmt.Errorf("%w: %s %d is outside %d to %d", errConfig, v.name, v.value,
				v.least, v.most)
		}
	}
	switch {
	case c.Publisher != Embedded && c.Publisher != TCP && c.Publisher != Both:
		return c, fmt.Errorf("%w: publisher %q is none of %s, %s, %s", errConfig, c.Publisher,
			Embedded, TCP, Both)
	case c.Duration < 0 || c.Duration > time.Hour:
		return c, fmt.Errorf("%w: duration %v is outside 0 to 1h", errConfig, c.Duration)
	case c.Rate < 0 || c.Rate > 1e9:
		return c, fmt.Errorf("%w: rate %v is outside 0 to 1e9", errConfig, c.Rate)
	}
	if err := c.Policy.Check(); err != nil {
		return c, fmt.Errorf("%w: %w", errConfig, err)
	}
	return c, nil
}

// form is what payloads look like; see package load.
type form string

const (
	numbered  form = "numbered"
	stamped   form = "stamped"
	countdown form = "countdown"
)

// stampedBytes is the smallest payload that can say when it was due.
const stampedBytes = load.StampedBytes

// Status is how far a run is.
type Status struct {
	Workload string
	Step     string // "round 2 of 3", "ceiling"
	Elapsed  time.Duration
	// Published and Delivered count since the step began.
	Published, Delivered uint64
	// PublishedPerS and DeliveredPerS are of the last moment.
	PublishedPerS, DeliveredPerS float64
	// Done says that the step is over, and what it came to is in the counts and rates.
	Done bool
}
