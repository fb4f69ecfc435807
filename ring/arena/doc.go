// Package arena lends blocks of memory that the Go heap does not know.
//
//	New ──▶ [ block | block | block | … ]   one mapping, touched at start-up
//	         Loan ▲ └─ Retain (a holder more) … Return (a holder less; the last one
//	              └────────────────────────────  gives the block back to the pool)
//
// Ownership. A block is held by whoever loaned or retained it, once for each time, and may
// be touched by its holders only. Bytes of a returned block belong to the next loan.
// Concurrency. All methods may be called from any goroutine.
// When full. Loan answers ErrExhausted at once; the arena never grows.
// Race builds. The race detector is blind to mapped memory, so under -race blocks come
// from the Go heap. Under -race and -tags invariants Return fills the block with 0xDB.
// Not here: what is in a block (ring), or which messages need it.
package arena
