package sys

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/ring"
)

func TestMain(m *testing.M) {
	before := openFiles()
	code := m.Run()
	if after := openFiles(); code == 0 && after > before {
		println("sys: descriptors leaked:", after-before)
		code = 1
	}
	os.Exit(code)
}

// openFiles counts what this process has open, but the runtime's own epoll set.
func openFiles() (n int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		fd, _ := strconv.Atoi(e.Name())
		link, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && fd > 2 && link != "anon_inode:[eventpoll]" &&
			link != "anon_inode:[eventfd]" {
			n++
		}
	}
	return n
}

// loopback answers the two ends of a TCP connection over loopback: a descriptor, which is
// closed at the test's end, and a net.Conn.
func loopback(t testing.TB) (int, *net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialed, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialed.Close() })
	accepted, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	raw, err := accepted.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	fd := -1
	if err := raw.Control(func(s uintptr) { fd, err = Dup(int(s)) }); err != nil || fd < 0 {
		t.Fatal(err)
	}
	t.Cleanup(func() { Close(fd) })
	return fd, dialed.(*net.TCPConn)
}

func TestSendAndReceive(t *testing.T) {
	fd, peer := loopback(t)
	iov := make([]Iovec, 3)
	iov[0].Set([]byte("one,"))
	iov[1].Set(nil)
	iov[2].Set([]byte("two,"))
	if n, err := Sendmsg(fd, iov, 0); n != 8 || err != nil {
		t.Fatalf("Sendmsg = %d, %v", n, err)
	}
	if n, err := Send(fd, []byte("three,"), 0); n != 6 || err != nil {
		t.Fatalf("Send = %d, %v", n, err)
	}
	iov[0].Set([]byte("four"))
	if n, err := Writev(fd, iov[:1]); n != 4 || err != nil || iov[0].Len() != 4 {
		t.Fatalf("Writev = %d, %v", n, err)
	}
	got := make([]byte, 18)
	if _, err := io.ReadFull(peer, got); err != nil || string(got) != "one,two,three,four" {
		t.Fatalf("peer read %q, %v", got, err)
	}

	if n, err := Recv(fd, got); n != 0 || err != syscall.EAGAIN {
		t.Fatalf("Recv of nothing = %d, %v", n, err)
	}
	set, err := EpollCreate()
	if err != nil {
		t.Fatal(err)
	}
	defer Close(set)
	if err := EpollCtl(set, EpollAdd, fd, &EpollEvent{Events: EpollIn, Fd: 7, Pad: 9}); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Write([]byte("back")); err != nil {
		t.Fatal(err)
	}
	events := waitFor(t, set, 1)
	if e := events[0]; e.Events&EpollIn == 0 || e.Fd != 7 || e.Pad != 9 {
		t.Fatalf("event %+v", e)
	}
	if n, err := Recv(fd, got); n != 4 || err != nil || !bytes.Equal(got[:n], []byte("back")) {
		t.Fatalf("Recv = %d, %v", n, err)
	}
	peer.CloseWrite()
	waitFor(t, set, 1)
	if n, err := Recv(fd, got); n != 0 || err != nil {
		t.Fatalf("Recv at the end = %d, %v", n, err)
	}
	if err := EpollCtl(set, EpollDelete, fd, nil); err != nil {
		t.Fatal(err)
	}
	if n, err := EpollPoll(set, events); n != 0 || err != nil {
		t.Fatalf("EpollPoll = %d, %v", n, err)
	}
}

// waitFor waits until a set has n events at once.
func waitFor(t testing.TB, set, n int) []EpollEvent {
	t.Helper()
	events := make([]EpollEvent, 8)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		got, err := EpollWait(set, events, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if got >= n {
			return events[:got]
		}
	}
	t.Fatalf("no %d events within 10 s", n)
	return nil
}

// A socket whose peer reads nothing fills, says so, and takes a part of what is offered
// before that.
func TestFullSocketAnswersEAGAIN(t *testing.T) {
	fd, _ := loopback(t)
	if err := unix.SetNonblock(fd, false); err != nil { // the flags must do
		t.Fatal(err)
	}
	b := make([]byte, 1<<20)
	iov := make([]Iovec, 1)
	iov[0].Set(b)
	partial := false
	for sent := 0; ; {
		n, err := Sendmsg(fd, iov, 0)
		if err == syscall.EAGAIN {
			break
		}
		if err != nil || n == 0 || sent > 1<<30 {
			t.Fatalf("after %d bytes: %d, %v", sent, n, err)
		}
		partial = partial || n < len(b)
		sent += n
	}
	if !partial {
		t.Error("no partial send before EAGAIN")
	}
	if _, err := Send(fd, b[:1], 0); err != syscall.EAGAIN {
		t.Errorf("Send = %v", err)
	}
}

func TestClosedPeerAnswersEPIPE(t *testing.T) {
	fd, peer := loopback(t)
	peer.SetLinger(0)
	peer.Close() // a reset
	iov := make([]Iovec, 1)
	iov[0].Set([]byte("x"))
	for i := 0; ; i++ { // the first may answer ECONNRESET
		_, err := Sendmsg(fd, iov, 0)
		if err == syscall.EPIPE {
			break
		}
		if i > 2 || err != nil && err != syscall.ECONNRESET {
			t.Fatalf("Sendmsg = %v", err)
		}
	}
	if _, err := Send(-1, []byte("x"), 0); err != syscall.EBADF {
		t.Errorf("Send(-1) = %v", err)
	}
}

func TestUnsupportedError(t *testing.T) {
	err := error(&UnsupportedError{Feature: "io_uring", MinKernel: "Linux 5.11", Err: syscall.EPERM})
	if !errors.Is(err, ring.ErrNotSupported) || !errors.Is(err, syscall.EPERM) {
		t.Errorf("%v is not what it should be", err)
	}
}

func TestZeroAlloc(t *testing.T) {
	fd, peer := loopback(t)
	go io.Copy(io.Discard, peer)
	bell, err := Eventfd()
	if err != nil {
		t.Fatal(err)
	}
	defer Close(bell)
	set, err := EpollCreate()
	if err != nil {
		t.Fatal(err)
	}
	defer Close(set)
	b, iov, events := make([]byte, 64), make([]Iovec, 2), make([]EpollEvent, 4)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(100, func() {
		iov[0].Set(b)
		iov[1].Set(b)
		Sendmsg(fd, iov, 0)
		Send(fd, b, 0)
		Recv(fd, b)
		Send(-1, b, 0)
		EpollPoll(set, events)
		EventfdWrite(bell)
		EventfdRead(bell)
		EventfdRead(bell)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The prologues of functions that make raw calls are safe points: the garbage collector
// gets its turn while a loop makes nothing else.
func TestLoopOfRawCallsLetsTheCollectorIn(t *testing.T) {
	fd, _ := loopback(t)
	b := make([]byte, 1)
	started, stop := make(chan struct{}), make(chan struct{})
	var ended atomic.Bool
	go func() {
		defer close(stop)
		close(started)
		for !ended.Load() {
			Recv(fd, b)
		}
	}()
	<-started
	for range 3 {
		runtime.GC() // hangs without a safe point
	}
	ended.Store(true)
	<-stop
}
