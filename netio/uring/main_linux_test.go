package uring

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// TestMain fails on descriptors that a test left open. It is also the reader of the
// benchmarks: see startReader.
func TestMain(m *testing.M) {
	if argument := os.Getenv(readerVariable); argument != "" {
		if err := read(argument); err != nil {
			fmt.Fprintln(os.Stderr, "reader:", err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if left := openSockets(); code == 0 && len(left) > 0 {
		fmt.Fprintln(os.Stderr, "uring: left open:", left)
		code = 1
	}
	os.Exit(code)
}

// openSockets are the sockets, rings and pipes of this process beyond standard ones.
func openSockets() (left []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		link, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if len(e.Name()) == 1 && e.Name() < "3" {
			continue
		}
		if strings.HasPrefix(link, "socket:") || strings.Contains(link, "io_uring") {
			left = append(left, e.Name()+"="+link)
		}
	}
	return left
}

// lockThread ties the test to a thread, as a Ring needs it.
func lockThread(t testing.TB) {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
}

// newRing makes a Ring for the test's thread.
func newRing(t testing.TB, c Config) *Ring {
	t.Helper()
	lockThread(t)
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// connect makes n loopback connections: our descriptors, and the peers.
func connect(t testing.TB, n int) ([]int, []*net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fds, peers := make([]int, n), make([]*net.TCPConn, n)
	for i := range fds {
		dialed, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		peers[i] = dialed.(*net.TCPConn)
		t.Cleanup(func() { dialed.Close() })
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		fds[i] = takeOver(t, accepted)
		t.Cleanup(func() { closeFile(&fds[i]) })
	}
	return fds, peers
}

// closeFile closes a descriptor, once.
func closeFile(fd *int) {
	if *fd >= 0 {
		_ = sys.Close(*fd)
	}
	*fd = -1
}

// outcome is one result of a Ring.
type outcome struct {
	userData uint64
	result   int32
}

// submit is SubmitAndReap that collects.
func submit(t testing.TB, r *Ring) (calls int, outcomes []outcome) {
	t.Helper()
	calls, err := r.SubmitAndReap(func(userData uint64, result int32) {
		outcomes = append(outcomes, outcome{userData, result})
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls, outcomes
}

// send sends b to slot and answers the result.
func send(t testing.TB, r *Ring, slot int, b []byte) int32 {
	t.Helper()
	if err := r.PrepSend(slot, b, 42); err != nil {
		t.Fatal(err)
	}
	_, outcomes := submit(t, r)
	if len(outcomes) != 1 || outcomes[0].userData != 42 {
		t.Fatalf("outcomes %v", outcomes)
	}
	return outcomes[0].result
}

// expect reads want from a peer.
func expect(t testing.TB, peer net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(peer, got); err != nil || string(got) != want {
		t.Fatalf("peer read %q, %v; want %q", got, err, want)
	}
}
