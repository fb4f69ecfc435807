package counter

import "testing"

// BenchmarkAdd is the price of counting, with nobody reading.
func BenchmarkAdd(b *testing.B) {
	var c Counter
	for b.Loop() {
		c.Add(2)
	}
}
