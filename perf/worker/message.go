package worker

import (
	"encoding/json"
	"fmt"
	"time"
)

// Arg is the first argument of a child's command line; the job's kind follows.
const Arg = "worker"

// OrphanGrace is how long a child may go on after its parent has gone: 2 s.
const OrphanGrace = 2 * time.Second

// lineBytes bounds one message: a merged latency histogram of 1,000 subscribers fits.
const lineBytes = 64 << 20

// kind says what a report of a child carries.
type kind string

const (
	kindReady    kind = "ready"
	kindProgress kind = "progress"
	kindResult   kind = "result"
	kindError    kind = "error"
)

// report is a line from a child to its parent.
type report struct {
	Kind  kind            `json:"kind"`
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

// JobError is what a child's job answered.
type JobError struct{ Job, Text string }

func (e *JobError) Error() string { return fmt.Sprintf("worker: %s: %s", e.Job, e.Text) }
