package uring

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of random tests")

// newSender makes a Sender for the test's thread, with the connections open.
func newSender(t testing.TB, c Config, fds []int) *Sender {
	t.Helper()
	lockThread(t)
	s, err := NewSender(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Release() })
	for slot, fd := range fds {
		if err := s.Open(slot, fd); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Sixty-four connections, some slow, by a ring that is far smaller, in pieces of any size:
// every peer reads exactly its own bytes, in order.
func TestSenderDeliversEveryByte(t *testing.T) {
	const conns = 64
	for _, c := range []Config{{Entries: 8, Files: 16}, {}, {SQPoll: true}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Logf("-seed=%d", *seed)
			random := rand.New(rand.NewPCG(*seed, 1))
			fds, peers := connect(t, conns)
			s := newSender(t, c, fds)
			streams := make([][]byte, conns)
			var readers sync.WaitGroup
			for i := range streams {
				streams[i] = make([]byte, 1<<20+random.IntN(1<<20))
				for k := range streams[i] {
					streams[i][k] = byte(k*31 + k>>8 + i)
				}
				readers.Go(func() { compare(t, i, peers[i], streams[i]) })
			}
			sendAll(t, s, fds, streams, random)
			readers.Wait()
			if s.Fallbacks() != 0 {
				t.Errorf("%d fallbacks", s.Fallbacks())
			}
		})
	}
}

// compare reads all of want from a peer.
func compare(t testing.TB, i int, peer net.Conn, want []byte) {
	b := make([]byte, 64<<10)
	for at := 0; at < len(want); {
		n, err := peer.Read(b)
		if err != nil {
			t.Errorf("connection %d at %d of %d: %v", i, at, len(want), err)
			return
		}
		if at+n > len(want) || !bytes.Equal(b[:n], want[at:at+n]) {
			t.Errorf("connection %d: other bytes from %d on", i, at)
			return
		}
		at += n
	}
}

// sendAll sends streams in random pieces, as a shard does.
func sendAll(t testing.TB, s *Sender, fds []int, streams [][]byte, random *rand.Rand) {
	t.Helper()
	set, err := sys.EpollCreate()
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close(set)
	for i, fd := range fds {
		event := sys.EpollEvent{Events: sys.EpollOut | sys.EpollEdge, Fd: int32(i)}
		if err := sys.EpollCtl(set, sys.EpollAdd, fd, &event); err != nil {
			t.Fatal(err)
		}
	}
	at, offered, writable := make([]int, len(fds)), make([]int, len(fds)), make([]bool, len(fds))
	events := make([]sys.EpollEvent, len(fds))
	result := func(slot, n int, err error) {
		if err != nil {
			t.Errorf("connection %d: %v", slot, err)
		}
		at[slot] += n
		writable[slot] = n == offered[slot]
	}
	for queued, left := 0, true; left; queued = 0 {
		left = false
		for i, stream := range streams {
			if at[i] == len(stream) {
				continue
			}
			left = true
			if !writable[i] {
				continue
			}
			var views [][]byte
			rest := stream[at[i]:]
			for range 1 + random.IntN(4) {
				n := min(random.IntN(200<<10), len(rest))
				views, rest = append(views, rest[:n]), rest[n:]
			}
			offered[i] = len(stream) - at[i] - len(rest)
			s.Queue(i, views)
			queued++
		}
		s.Flush(result)
		timeout := time.Duration(0)
		if left && queued == 0 {
			timeout = 10 * time.Second
		}
		n, err := sys.EpollWait(set, events, timeout)
		if err != nil || t.Failed() {
			t.Fatal("stop: ", err)
		}
		for _, e := range events[:n] {
			writable[e.Fd] = true
		}
	}
}

// One submission for many, but a plain send for each of a few.
func TestSenderCalls(t *testing.T) {
	fds, peers := connect(t, 8)
	s := newSender(t, Config{Entries: 4}, fds)
	for _, c := range []struct{ conns, calls int }{{0, 0}, {1, 1}, {2, 2}, {3, 1}, {4, 1}, {8, 2}} {
		done := 0
		for slot := range c.conns {
			s.Queue(slot, [][]byte{[]byte("x")})
		}
		calls := s.Flush(func(slot, n int, err error) {
			if n != 1 || err != nil {
				t.Errorf("connection %d: %d, %v", slot, n, err)
			}
			done++
		})
		if calls != c.calls || done != c.conns {
			t.Errorf("%d connections: %d calls, %d results", c.conns, calls, done)
		}
		for _, peer := range peers[:c.conns] {
			expect(t, peer, "x")
		}
	}
}

// Done may close connections, its own and others, and a slot may be used again at once.
func TestSenderCloseWithinFlush(t *testing.T) {
	fds, peers := connect(t, 6)
	s := newSender(t, Config{Entries: 2}, fds)
	peers[0].SetLinger(0)
	peers[0].Close()
	for i := 0; ; i++ { // until the reset is known here
		if _, err := sys.Send(fds[0], []byte("x"), 0); err == syscall.EPIPE {
			break
		} else if i > 2 {
			t.Fatal(err)
		}
	}
	for slot := range fds {
		s.Queue(slot, [][]byte{[]byte("one")})
	}
	told := map[int]error{}
	s.Flush(func(slot, n int, err error) {
		if _, again := told[slot]; again {
			t.Errorf("connection %d told twice", slot)
		}
		told[slot] = err
		if slot == 0 {
			for _, gone := range []int{0, 5} {
				s.Close(gone)
				closeFile(&fds[gone])
			}
		}
	})
	if told[0] != syscall.EPIPE || len(told) != 5 {
		t.Errorf("told %v", told)
	}
	if _, is := told[5]; is {
		t.Error("told of a closed connection")
	}
	for _, peer := range peers[1:5] {
		expect(t, peer, "one")
	}
	if n, err := peers[5].Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("closed before its turn: peer read %d, %v", n, err)
	}
	if err := s.Open(5, fds[1]); err != nil {
		t.Fatal(err)
	}
	s.Queue(5, [][]byte{[]byte("t"), []byte("wo")})
	s.Queue(2, [][]byte{[]byte("two")})
	s.Flush(func(slot, n int, err error) {
		if n != 3 || err != nil {
			t.Errorf("connection %d: %d, %v", slot, n, err)
		}
	})
	expect(t, peers[1], "two")
	expect(t, peers[2], "two")
}

// Where the ring fails, bytes go without it.
func TestSenderFallsBack(t *testing.T) {
	fds, peers := connect(t, 3)
	s := newSender(t, Config{}, fds)
	if s.ring.kernel.Flags&setups[0] != setups[0] {
		t.Skipf("set-up %#x does not fail on another thread", s.ring.kernel.Flags)
	}
	for slot := range fds {
		s.Queue(slot, [][]byte{[]byte("thr"), []byte("ee")})
	}
	done := make(chan int)
	go func() { // not the thread that owns the ring: EEXIST
		results := 0
		s.Flush(func(slot, n int, err error) {
			if n == 5 && err == nil {
				results++
			}
		})
		done <- results
	}()
	if n := <-done; n != 3 || s.Fallbacks() != 3 {
		t.Errorf("%d results, %d fallbacks", n, s.Fallbacks())
	}
	for _, peer := range peers {
		expect(t, peer, "three")
	}
}

func TestSenderZeroAlloc(t *testing.T) {
	fds, peers := connect(t, 4)
	s := newSender(t, Config{}, fds)
	for _, peer := range peers {
		go io.Copy(io.Discard, peer)
	}
	one := [][]byte{make([]byte, 64)}
	two := [][]byte{one[0], one[0]}
	done := func(slot, n int, err error) {}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(1000, func() {
		s.Queue(0, one)
		s.Queue(1, two)
		s.Queue(2, one)
		s.Flush(done)
		s.Queue(3, two)
		s.Flush(done)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
