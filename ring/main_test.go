package ring

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/ringtest"
	"github.com/fantail-io/fantail/ring/wait"
)

func TestMain(m *testing.M) { ringtest.Main(m) }

// testClock is a clock that tests move.
type testClock struct{ now int64 }

func (c *testClock) advance(d time.Duration) int64 {
	c.now += int64(d)
	return c.now
}

// newTestStream makes a stream of 4 KiB blocks that is closed when the test ends, with
// nothing left in it.
func newTestStream(t testing.TB, blocks int) (*Stream, *testClock) {
	t.Helper()
	s, err := NewStream(Config{BlockBytes: MinBlockBytes, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	clock := &testClock{now: 1}
	s.clock = func() int64 { return clock.now }
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !t.Failed() {
			t.Errorf("close: %v", err)
		}
	})
	return s, clock
}

// blockPayload is a payload that fills a 4 KiB block.
const blockPayload = MinBlockBytes - frame.HeaderBytes

func mustClaim(t testing.TB, s *Stream, payloadBytes int) Claim {
	t.Helper()
	c, err := s.Claim(1, 1, 0, payloadBytes)
	if err != nil {
		t.Fatalf("claim of %d bytes: %v", payloadBytes, err)
	}
	return c
}

// publish publishes a message that is size bytes long, at least 8, and starts with its
// sequence.
func publish(t testing.TB, s *Stream, size int) uint64 {
	t.Helper()
	c := mustClaim(t, s, size)
	binary.LittleEndian.PutUint64(c.Bytes(), c.Sequence())
	if err := c.Commit(); err != nil {
		t.Fatalf("commit of %d: %v", c.Sequence(), err)
	}
	return c.Sequence()
}

// check checks one of publish's messages.
func check(t testing.TB, m Message) {
	t.Helper()
	b := m.Block.Bytes(m.Offset, m.Length)
	h := frame.Get(b)
	if h.Sequence != m.Sequence || h.Length != m.Length || h.Topic != m.Topic ||
		h.Kind != frame.Data || binary.LittleEndian.Uint64(b[frame.HeaderBytes:]) != m.Sequence {
		t.Fatalf("%+v has the frame %+v", m, h)
	}
}

// poll reads everything there is in one turn.
func poll(t testing.TB, f *Follower) (gap Gap, sequences []uint64) {
	t.Helper()
	gap = f.Acquire()
	for {
		m, ok := f.Read()
		if !ok {
			break
		}
		check(t, m)
		sequences = append(sequences, m.Sequence)
	}
	f.Release()
	return gap, sequences
}

// wantRun checks that sequences are first to last without a hole.
func wantRun(t testing.TB, sequences []uint64, first, last uint64) {
	t.Helper()
	if uint64(len(sequences)) != last+1-first {
		t.Fatalf("%d messages, want %d to %d: %v", len(sequences), first, last, sequences)
	}
	for i, got := range sequences {
		if got != first+uint64(i) {
			t.Fatalf("message %d is %d, want %d", i, got, first+uint64(i))
		}
	}
}

// claimWaiting claims, and waits while there is back pressure.
func claimWaiting(s *Stream, sleeper *wait.Sleeper, publisher uint32, bytes int) (Claim, error) {
	for {
		c, err := s.Claim(publisher, publisher, 0, bytes)
		if err != ErrBackPressure {
			return c, err
		}
		sleeper.Arm()
		if c, err = s.Claim(publisher, publisher, 0, bytes); err != ErrBackPressure {
			sleeper.Disarm()
			return c, err
		}
		select {
		case <-sleeper.C():
		case <-time.After(time.Millisecond): // patience runs out in silence
		}
	}
}
