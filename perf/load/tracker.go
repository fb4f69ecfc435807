package load

// Tracker follows what one subscriber receives of one publisher's messages, which are
// numbered from 1. It finds out what is lost from the payloads themselves, whatever the
// engine says.
type Tracker struct {
	pattern *Pattern
	next    uint64
	counts  Counts
}

// Counts is what a Tracker has found.
type Counts struct {
	Received  uint64 `json:"received"`  // messages, whole and the right ones
	Bytes     uint64 `json:"bytes"`     // of their payloads
	Lost      uint64 `json:"lost"`      // numbers that were skipped
	Repeated  uint64 `json:"repeated"`  // numbers that came again, or too late
	Corrupt   uint64 `json:"corrupt"`   // payloads that no publisher made
	Gaps      uint64 `json:"gaps"`      // gap records
	GapCount  uint64 `json:"gap_count"` // messages that gap records say are missing
	Sequences uint64 `json:"sequences"` // stream sequences that did not rise
}

// Add sums.
func (c *Counts) Add(o Counts) {
	c.Received += o.Received
	c.Bytes += o.Bytes
	c.Lost += o.Lost
	c.Repeated += o.Repeated
	c.Corrupt += o.Corrupt
	c.Gaps += o.Gaps
	c.GapCount += o.GapCount
	c.Sequences += o.Sequences
}

// Faults is how many things went wrong that no gap record excuses: repeated, corrupt, out of
// order, and lost without a record.
func (c *Counts) Faults() uint64 {
	silent := c.Lost - min(c.Lost, c.GapCount)
	return c.Repeated + c.Corrupt + c.Sequences + silent
}

// NewTracker answers a Tracker that waits for message 1.
func NewTracker(p *Pattern) *Tracker { return &Tracker{pattern: p, next: 1} }

// Counts is what was found so far.
func (t *Tracker) Counts() Counts { return t.counts }

// Next is the number of the message that should come next.
func (t *Tracker) Next() uint64 { return t.next }

// See takes a payload that Put made.
func (t *Tracker) See(b []byte) {
	if t.pattern.Check(b, t.next) {
		t.next++
		t.counts.Received++
		t.counts.Bytes += uint64(len(b))
		return
	}
	n := Number(b)
	t.surprise(b, n, t.pattern.Check(b, n))
}

// SeeStamped takes a payload that PutStamped made, and answers when it was due.
func (t *Tracker) SeeStamped(b []byte) (due int64, ok bool) {
	due, ok = t.pattern.CheckStamped(b, t.next)
	if ok {
		t.next++
		t.counts.Received++
		t.counts.Bytes += uint64(len(b))
		return due, true
	}
	n := Number(b)
	due, ok = t.pattern.CheckStamped(b, n)
	t.surprise(b, n, ok)
	return due, ok
}

// surprise takes a payload that is not the one that was due.
func (t *Tracker) surprise(b []byte, n uint64, whole bool) {
	switch {
	case !whole || n == 0:
		t.counts.Corrupt++
		// The number may be wrong with the rest: wait for what follows the one that was due.
		t.next++
		return
	case n < t.next:
		t.counts.Repeated++
		return
	}
	t.counts.Lost += n - t.next
	t.next = n + 1
	t.counts.Received++
	t.counts.Bytes += uint64(len(b))
}

// Gap takes a gap record of count messages.
func (t *Tracker) Gap(count uint64) {
	t.counts.Gaps++
	t.counts.GapCount += count
}

// End takes the end of a run of total messages: what did not come by now is lost.
func (t *Tracker) End(total uint64) {
	if t.next <= total {
		t.counts.Lost += total + 1 - t.next
		t.next = total + 1
	}
}
