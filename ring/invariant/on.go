//go:build invariants || race

package invariant

import (
	"math/rand/v2"
	"runtime"
)

// Enabled is true in builds that check the module's invariants as they run.
const Enabled = true

// Yield stands where the order of two steps matters to other goroutines, and lets them run
// now and then.
func Yield() {
	if rand.Uint32()&15 == 0 {
		runtime.Gosched()
	}
}
