// Package counter holds figures that one goroutine writes and anybody reads.
//
// Ownership. A Counter or Max has one writer; a second one loses updates.
// Concurrency. Add, Inc and Observe: the writer. Load: anyone, at any time.
// Not here: names, labels, and export (see engine.Snapshot and its like).
package counter

import "sync/atomic"

// pad is two cache lines, so that neighbours in memory, and the line that the hardware
// fetches beside it, are left alone.
type pad [128]byte

// Counter only grows. It is not padded: group the counters of one writer, then Pad.
type Counter struct {
	_ [0]atomic.Uint64 // aligns v, also on 32-bit processors
	v uint64
}

// Add adds n. The writer only.
func (c *Counter) Add(n uint64) { storeRelease(&c.v, c.v+n) }

// Inc adds one. The writer only.
func (c *Counter) Inc() { storeRelease(&c.v, c.v+1) }

// Load is the count so far.
func (c *Counter) Load() uint64 { return atomic.LoadUint64(&c.v) }

// Max remembers the largest value it has seen: a high-water mark.
type Max struct{ count Counter }

// Observe raises the mark to n where n is higher. The writer only.
func (m *Max) Observe(n uint64) {
	if n > m.count.v {
		storeRelease(&m.count.v, n)
	}
}

// Load is the mark.
func (m *Max) Load() uint64 { return m.count.Load() }

// Pad separates the fields of one writer from those of another.
type Pad struct{ _ pad }
