package uring

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Every set-up that New may fall back to does the same.
func TestEverySetup(t *testing.T) {
	restore, restoreSQPoll := setups, setupsSQPoll
	t.Cleanup(func() { setups, setupsSQPoll = restore, restoreSQPoll })
	for _, polling := range []bool{false, true} {
		all := restore
		if polling {
			all = restoreSQPoll
		}
		for _, flags := range all {
			t.Run(fmt.Sprintf("%#x", flags), func(t *testing.T) {
				setups, setupsSQPoll = []uint32{1 << 31, flags}, []uint32{1 << 31, flags}
				r := newRing(t, Config{Entries: 8, Files: 4, SQPoll: polling})
				if r.kernel.Flags&flags != flags {
					t.Fatalf("flags %#x", r.kernel.Flags)
				}
				fds, peers := connect(t, 6) // the last two are beyond the table
				for slot, fd := range fds {
					if err := r.RegisterFile(slot, fd); err != nil {
						t.Fatal(err)
					}
				}
				for round := range 5 { // the rings wrap
					for slot := range fds {
						text := fmt.Sprintf("slot %d round %d", slot, round)
						if err := r.PrepSend(slot, []byte(text), uint64(slot)); err != nil {
							t.Fatal(err)
						}
					}
					calls, outcomes := submit(t, r)
					if !polling && calls != 1 {
						t.Errorf("%d system calls", calls)
					}
					seen := map[uint64]bool{}
					for _, o := range outcomes {
						seen[o.userData] = true
						if o.result != int32(len("slot 0 round 0")) {
							t.Errorf("slot %d: %d", o.userData, o.result)
						}
					}
					if len(seen) != len(fds) || len(outcomes) != len(fds) {
						t.Fatalf("outcomes %v", outcomes)
					}
					for slot, peer := range peers {
						expect(t, peer, fmt.Sprintf("slot %d round %d", slot, round))
					}
				}
			})
		}
	}
}

func TestUnknownSetupIsNotSupported(t *testing.T) {
	restore := setups
	t.Cleanup(func() { setups = restore })
	setups = []uint32{1 << 31}
	lockThread(t)
	var typed *UnsupportedError
	if _, err := New(Config{}); !errors.As(err, &typed) || !errors.Is(err, syscall.EINVAL) {
		t.Errorf("New = %v", err)
	}
	if err := Probe(); !errors.As(err, &typed) {
		t.Errorf("Probe = %v", err)
	}
}

func TestProbe(t *testing.T) {
	if err := Probe(); err != nil {
		t.Fatal(err)
	}
}

func TestSendmsgJoinsPieces(t *testing.T) {
	r := newRing(t, Config{Entries: 2})
	fds, peers := connect(t, 1)
	if err := r.RegisterFile(0, fds[0]); err != nil {
		t.Fatal(err)
	}
	pieces := make([]Iovec, 3)
	for i, text := range []string{"one,", "", "two"} {
		pieces[i].Set([]byte(text))
	}
	if err := r.PrepSendmsg(0, pieces, 7); err != nil {
		t.Fatal(err)
	}
	if _, outcomes := submit(t, r); len(outcomes) != 1 || outcomes[0] != (outcome{7, 7}) {
		t.Fatalf("outcomes %v", outcomes)
	}
	expect(t, peers[0], "one,two")
}

// A full socket takes a part and then answers EAGAIN, in the one system call that submits,
// and takes bytes again after its peer has read: nothing is left waiting in the kernel.
func TestFullSocketAnswersEAGAIN(t *testing.T) {
	r := newRing(t, Config{})
	fds, peers := connect(t, 1)
	if err := r.RegisterFile(0, fds[0]); err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fds[0], false); err != nil { // the flags must do
		t.Fatal(err)
	}
	b := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	sent, partial := 0, false
	for {
		before := r.Calls()
		n := send(t, r, 0, b[sent%16:])
		if calls := r.Calls() - before; calls != 1 {
			t.Fatalf("%d system calls", calls)
		}
		if n == -int32(syscall.EAGAIN) {
			break
		}
		if n <= 0 || sent > 1<<30 {
			t.Fatalf("after %d bytes: %d", sent, n)
		}
		partial = partial || int(n) < len(b)-sent%16
		sent += int(n)
	}
	if !partial {
		t.Error("no partial send before EAGAIN")
	}
	got := make([]byte, sent)
	if _, err := io.ReadFull(peers[0], got); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != b[i%16] {
			t.Fatalf("byte %d of %d is %q", i, sent, got[i])
		}
	}
	waitWritable(t, fds[0])
	if n := send(t, r, 0, []byte("again")); n != 5 {
		t.Fatalf("send = %d", n)
	}
	expect(t, peers[0], "again")
}

func waitWritable(t testing.TB, fd int) {
	t.Helper()
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
	for {
		n, err := unix.Poll(poll, 10_000)
		if err == unix.EINTR {
			continue
		}
		if n != 1 || err != nil {
			t.Fatalf("poll = %d, %v", n, err)
		}
		return
	}
}

func TestClosedPeerAnswersEPIPE(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGPIPE)
	defer signal.Stop(signals)
	r := newRing(t, Config{})
	fds, peers := connect(t, 2)
	for slot, fd := range fds {
		if err := r.RegisterFile(slot, fd); err != nil {
			t.Fatal(err)
		}
	}
	peers[0].SetLinger(0)
	peers[0].Close() // a reset
	for i := 0; ; i++ {
		n := send(t, r, 0, []byte("x"))
		if n == -int32(syscall.EPIPE) {
			break
		}
		if i > 2 || n != -int32(syscall.ECONNRESET) {
			t.Fatalf("send = %d", n)
		}
	}
	// It is that connection's own affair.
	for slot := range fds {
		if err := r.PrepSend(slot, []byte("y"), uint64(slot)); err != nil {
			t.Fatal(err)
		}
	}
	_, outcomes := submit(t, r)
	for _, o := range outcomes {
		if o.userData == 0 && o.result >= 0 || o.userData == 1 && o.result != 1 {
			t.Errorf("outcomes %v", outcomes)
		}
	}
	expect(t, peers[1], "y")
	select {
	case s := <-signals:
		t.Errorf("signal %v", s)
	default:
	}
}

// The ring keeps alive what the kernel knows by its address.
func TestBuffersSurviveTheCollector(t *testing.T) {
	r := newRing(t, Config{})
	fds, peers := connect(t, 1)
	if err := r.RegisterFile(0, fds[0]); err != nil {
		t.Fatal(err)
	}
	prepare := func() {
		var onStack [64]byte // but for the ring's sake
		copy(onStack[:], "first,")
		if err := r.PrepSend(0, onStack[:6], 1); err != nil {
			t.Fatal(err)
		}
		pieces := make([]Iovec, 1)
		pieces[0].Set(bytes.Clone([]byte("second")))
		if err := r.PrepSendmsg(0, pieces, 2); err != nil {
			t.Fatal(err)
		}
	}
	prepare()
	grow(1000) // overwrites and moves the stack
	for range 3 {
		runtime.GC()
		for range 1000 {
			garbage = bytes.Repeat([]byte{'!'}, 64)
		}
	}
	submit(t, r)
	expect(t, peers[0], "first,second")
}

var garbage []byte

//go:noinline
func grow(depth int) (sum int) {
	var frame [256]byte
	for i := range frame {
		frame[i] = '?'
	}
	if depth > 0 {
		sum = grow(depth - 1)
	}
	return sum + int(frame[depth%256])
}
