//go:build !race

package native

// raceEnabled reports whether the race detector slows this build down.
const raceEnabled = false
