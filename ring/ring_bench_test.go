package ring

import "testing"

// BenchmarkRingMerge appends a message that continues the last range.
func BenchmarkRingMerge(b *testing.B) {
	block := &Block{}
	r := NewRing(64)
	sequence := uint64(1)
	for b.Loop() {
		r.Append(block, uint32(sequence)*64, 64, 1, sequence)
		sequence++
	}
}

// BenchmarkRingPush appends a range of its own, and consumes it.
func BenchmarkRingPush(b *testing.B) {
	block := &Block{}
	r := NewRing(64)
	sequence := uint64(1)
	for b.Loop() {
		r.Append(block, 0, 64, 1, sequence)
		if _, ok := r.Front(); !ok {
			b.Fatal("nothing there")
		}
		r.Consume(64)
		sequence += 2
	}
}

// BenchmarkRingPoll asks for the ranges, 16 of them, and consumes nothing.
func BenchmarkRingPoll(b *testing.B) {
	block := &Block{}
	r := NewRing(64)
	for i := range uint64(16) {
		r.Append(block, 0, 64, 1, 1+2*i)
	}
	ranges := make([]Range, 0, 16)
	for b.Loop() {
		if ranges = r.Ranges(ranges[:0]); len(ranges) != 16 {
			b.Fatal("not all are there")
		}
	}
}
