package ring_test

import (
	"fmt"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// A publisher writes in place; a follower reads the same bytes, behind its own cursor.
func Example() {
	stream, err := ring.NewStream(ring.Config{BlockBytes: 64 << 10, Blocks: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	follower := stream.Follow(ring.FollowOptions{Lossy: true})

	claim, err := stream.Claim(7, 1, 0, 5)
	if err != nil {
		fmt.Println(err) // ring.ErrBackPressure: offer it again later
		return
	}
	copy(claim.Bytes(), "hello")
	if err := claim.Commit(); err != nil {
		fmt.Println(err)
	}

	if gap := follower.Acquire(); gap.Count > 0 {
		fmt.Println("lapped, and missed", gap.Count)
	}
	for {
		m, ok := follower.Read()
		if !ok {
			break
		}
		view := m.Block.Bytes(m.Offset, m.Length)
		fmt.Printf("%d on topic %d: %s\n", m.Sequence, m.Topic, view[frame.HeaderBytes:])
	}
	follower.Release()

	follower.Close()
	if err := stream.Close(); err != nil {
		fmt.Println(err)
	}
	// Output: 1 on topic 7: hello
}
