package ring

import (
	"bytes"
	"testing"

	"github.com/fantail-io/fantail/ring/frame"
)

func TestPublishAndFollow(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	payload := []byte("thirteen bytes")
	sequence, err := s.Publish(7, 9, 11, payload)
	if err != nil || sequence != 1 {
		t.Fatalf("sequence %d, %v", sequence, err)
	}
	f.Acquire()
	m, ok := f.Read()
	if !ok || m.Sequence != 1 || m.Topic != 7 || m.Length != frame.HeaderBytes+14 {
		t.Fatalf("%+v, %v", m, ok)
	}
	want := frame.Append(nil, frame.Header{Kind: frame.Data, Topic: 7, Publisher: 9, Sequence: 1,
		Time: 11}, payload)
	if got := m.Block.Bytes(m.Offset, uint32(frame.Aligned(int(m.Length)))); !bytes.Equal(got, want) {
		t.Errorf("frame % x, want % x", got, want)
	}
	if _, ok := f.Read(); ok {
		t.Error("a second message")
	}
	f.Release()
	if f.Cursor() != 2 || f.Next() != 2 {
		t.Errorf("cursor %d, next %d, want 2", f.Cursor(), f.Next())
	}
}

func TestPaddingIsZero(t *testing.T) {
	s, _ := newTestStream(t, 4)
	for range 3 * MinBlockBytes / 40 { // until blocks are reused
		for size := range 9 {
			c := mustClaim(t, s, size)
			for i := range c.Bytes() {
				c.Bytes()[i] = 0xff
			}
			b := c.block.Bytes(c.entry.offset(), uint32(frame.Aligned(int(c.entry.length()))))
			if pad := b[c.entry.length():]; !bytes.Equal(pad, make([]byte, len(pad))) {
				t.Fatalf("padding % x behind %d bytes", pad, size)
			}
			if err := c.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAbortedClaimsAreSkipped(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	publish(t, s, 8)
	c := mustClaim(t, s, 100)
	publish(t, s, 8)
	if err := c.Abort(); err != nil {
		t.Fatal(err)
	}
	if _, got := poll(t, f); len(got) != 2 || got[0] != 1 || got[1] != 3 {
		t.Errorf("got %v, want 1 and 3", got)
	}
}

func TestFollowersStopBeforeAnOpenClaim(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	publish(t, s, 8)
	c := mustClaim(t, s, 0)
	publish(t, s, 8)
	_, got := poll(t, f)
	wantRun(t, got, 1, 1)
	if f.Acquire(); f.Ready() {
		t.Error("ready before the claim is committed")
	}
	f.Release()
	if err := c.Abort(); err != nil {
		t.Fatal(err)
	}
	if f.Acquire(); !f.Ready() {
		t.Error("not ready after the claim was aborted")
	}
	f.Release()
	_, got = poll(t, f)
	wantRun(t, got, 3, 3)
}

func TestClaimEndsOnce(t *testing.T) {
	s, _ := newTestStream(t, 4)
	c := mustClaim(t, s, 8)
	copied := c
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{c.Commit(), c.Abort(), copied.Commit(), (&Claim{}).Commit()} {
		if err != ErrClaimClosed {
			t.Errorf("%v, want ErrClaimClosed", err)
		}
	}
	if c.Bytes() != nil {
		t.Error("bytes of a closed claim")
	}
}

// A copy of a claim outlives it, and its block: ending it must not end another claim.

func TestCopyOfAnOldClaimDoesNoHarm(t *testing.T) {
	s, _ := newTestStream(t, 4)
	publish(t, s, 8)
	c := mustClaim(t, s, 8) // the second of its block
	copied, block := c, c.block
	if err := c.Commit(); err != nil {
		t.Fatal(err)
	}
	for s.current.Load() == block {
		publish(t, s, 8)
	}
	for s.current.Load() != block {
		publish(t, s, blockPayload)
	}
	if err := copied.Commit(); err != ErrClaimClosed {
		t.Errorf("%v, want ErrClaimClosed", err)
	}
	if e := block.index[1].Load(); e != 0 {
		t.Errorf("entry %x of a claim that nobody made", e)
	}
}

func TestTooLarge(t *testing.T) {
	s, _ := newTestStream(t, 4)
	for _, size := range []int{s.MaxPayload() + 1, 1 << 30, -1} {
		if _, err := s.Claim(0, 0, 0, size); err != ErrTooLarge {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	for range 9 {
		publish(t, s, s.MaxPayload())
	}
}

func TestBackPressureAtOnce(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	for range 4 {
		publish(t, s, blockPayload)
	}
	for range 3 {
		if _, err := s.Claim(0, 0, 0, 0); err != ErrBackPressure {
			t.Fatalf("%v, want ErrBackPressure", err)
		}
	}
	if got := s.Stats(); got.BackPressure != 3 || got.Free != 0 || got.Tail != 5 || got.Head != 1 {
		t.Errorf("%+v", got)
	}
	f.Acquire()
	f.Read()
	f.Read() // in the second block: the first one is free
	f.Release()
	publish(t, s, blockPayload)
	if _, err := s.Claim(0, 0, 0, 0); err != ErrBackPressure {
		t.Errorf("%v, want ErrBackPressure", err)
	}
	_, got := poll(t, f)
	wantRun(t, got, 3, 5)
}

// A claim beyond the block's end seals it, whether or not there is room elsewhere.

func TestRefusedClaimsLeaveNoHoles(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{})
	defer f.Close()
	var last uint64
	for range 4 {
		last = publish(t, s, 8)
		for {
			if _, err := s.Publish(1, 1, 0, make([]byte, 1000)); err == ErrBackPressure {
				break
			}
			last++
		}
		for range 5 {
			if _, err := s.Claim(1, 1, 0, 0); err != ErrBackPressure {
				t.Fatalf("%v, want ErrBackPressure", err)
			}
		}
		if s.Tail() != last+1 {
			t.Fatalf("tail %d, want %d", s.Tail(), last+1)
		}
		f.Acquire()
		for want := f.Next(); ; want++ {
			m, ok := f.Read()
			if !ok {
				break
			}
			if m.Sequence != want {
				t.Fatalf("sequence %d, want %d", m.Sequence, want)
			}
		}
		f.Release()
	}
	if f.Next() != last+1 {
		t.Errorf("followed to %d, want %d", f.Next(), last+1)
	}
}

// A claim that has found its block full must not open another one after Refuse.

func TestEntry(t *testing.T) {
	for _, e := range []struct{ topic, offset, length uint32 }{
		{0, 0, frame.HeaderBytes}, {MaxTopics - 1, MaxBlockBytes - frame.Align, MaxBlockBytes},
		{1, 8, 33}, {0x123456, 0xabcd8, 0x98765},
	} {
		got := makeEntry(e.topic, e.offset, e.length)
		if got.topic() != e.topic || got.offset() != e.offset || got.length() != e.length ||
			got.state() != stateCommit {
			t.Errorf("%+v became %x", e, uint64(got))
		}
	}
}

// Ten thousand claims that all found the same block full must not make it look empty.

func TestTailDoesNotWrap(t *testing.T) {
	var word tail
	for range 1 << 20 {
		word += makeTail(MaxBlockBytes, 1)
	}
	if word.bytes() != MaxBlockBytes<<20 || word.claims() != 1<<20 {
		t.Errorf("%d bytes, %d claims", word.bytes(), word.claims())
	}
}

// Full tells those who hold the oldest block, and could give it up, that somebody waits.

func TestFull(t *testing.T) {
	s, _ := newTestStream(t, 4)
	f := s.Follow(FollowOptions{Held: true})
	defer f.Close()
	sleeper := s.Readers().NewSleeper()
	defer sleeper.Close()
	for range 4 {
		publish(t, s, blockPayload)
		if _, full := s.Full(); full {
			t.Fatal("full before a claim was refused")
		}
	}
	sleeper.Arm()
	if _, err := s.Claim(1, 1, 0, 0); err != ErrBackPressure {
		t.Fatal(err)
	}
	if oldest, full := s.Full(); !full || oldest != 0 {
		t.Errorf("full %v, oldest block %d", full, oldest)
	}
	select {
	case <-sleeper.C():
	default:
		t.Error("readers are not told")
	}
	_, got := poll(t, f)
	wantRun(t, got, 1, 4)
	f.Hold(2)
	publish(t, s, 8)
	if _, full := s.Full(); full {
		t.Error("full although a claim has found a block")
	}
}
