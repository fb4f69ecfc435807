package uring

import (
	"errors"
	"io"
	"runtime/debug"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Another thread is told EEXIST, nothing is sent, and the owner goes on.
func TestAnotherThreadIsRefused(t *testing.T) {
	r := newRing(t, Config{Files: 8})
	if r.kernel.Flags&setups[0] != setups[0] {
		t.Skipf("set-up %#x lets any thread in", r.kernel.Flags)
	}
	fds, peers := connect(t, 1)
	if err := r.RegisterFile(0, fds[0]); err != nil {
		t.Fatal(err)
	}
	if err := r.PrepSend(0, []byte("lost"), 5); err != nil {
		t.Fatal(err)
	}
	var outcomes []outcome
	failed := make(chan error)
	go func() { // this test holds its own thread
		_, err := r.SubmitAndReap(func(userData uint64, result int32) {
			outcomes = append(outcomes, outcome{userData, result})
		})
		failed <- err
	}()
	if err := <-failed; !errors.Is(err, syscall.EEXIST) {
		t.Errorf("SubmitAndReap = %v", err)
	}
	if len(outcomes) != 1 || outcomes[0] != (outcome{5, -int32(syscall.ECANCELED)}) {
		t.Errorf("outcomes %v", outcomes)
	}
	go func() { failed <- r.RegisterFile(1, fds[0]) }()
	if err := <-failed; !errors.Is(err, syscall.EEXIST) {
		t.Errorf("RegisterFile = %v", err)
	}
	if n := send(t, r, 0, []byte("found")); n != 5 {
		t.Fatalf("send = %d", n)
	}
	expect(t, peers[0], "found")
}

// The runtime preempts with signals; they end nothing early.
func TestSignalsDoNoHarm(t *testing.T) {
	for _, polling := range []bool{false, true} {
		r := newRing(t, Config{SQPoll: polling})
		fds, peers := connect(t, 2)
		for slot, fd := range fds {
			if err := r.RegisterFile(slot, fd); err != nil {
				t.Fatal(err)
			}
		}
		stop, stopped := make(chan struct{}), make(chan struct{})
		pid, thread := unix.Getpid(), unix.Gettid()
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					_ = unix.Tgkill(pid, thread, unix.SIGURG)
				}
			}
		}()
		const rounds = 2000
		want := make([]byte, 64)
		for range rounds {
			for slot := range fds {
				if err := r.PrepSend(slot, want, uint64(slot)); err != nil {
					t.Fatal(err)
				}
			}
			_, outcomes := submit(t, r)
			if len(outcomes) != 2 || outcomes[0].result != 64 || outcomes[1].result != 64 {
				t.Fatalf("outcomes %v", outcomes)
			}
			for _, peer := range peers {
				if _, err := io.ReadFull(peer, want); err != nil {
					t.Fatal(err)
				}
			}
		}
		close(stop)
		<-stopped
	}
}

func TestZeroAlloc(t *testing.T) {
	r := newRing(t, Config{})
	fds, peers := connect(t, 4)
	for slot, fd := range fds {
		if err := r.RegisterFile(slot, fd); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, peers[slot])
	}
	b, pieces, total := make([]byte, 64), make([]Iovec, 2), 0
	result := func(_ uint64, result int32) { total += int(result) }
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if n := testing.AllocsPerRun(1000, func() {
		pieces[0].Set(b)
		pieces[1].Set(b)
		for slot := range fds {
			r.PrepSend(slot, b, 0)
			r.PrepSendmsg(slot, pieces, 0)
		}
		r.SubmitAndReap(result)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if total == 0 {
		t.Error("nothing was sent")
	}
}

// What one system call does is bounded, since the collector may have to wait for it.
func TestSubmissionsAreBounded(t *testing.T) {
	const conns = 64
	r := newRing(t, Config{})
	fds, peers := connect(t, conns)
	for slot, fd := range fds {
		if err := r.RegisterFile(slot, fd); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, peers[slot])
	}
	for _, c := range []struct{ bytes, sends, calls int }{
		{1, 32, 1}, {1, 64, 2}, {64 << 10, 6, 1}, {64 << 10, 64, 10}, {1 << 20, 4, 4},
	} {
		b := make([]byte, c.bytes)
		pieces := make([]Iovec, 2)
		pieces[0].Set(b[:c.bytes/2])
		pieces[1].Set(b[c.bytes/2:])
		for slot := range c.sends {
			prep := func() error { return r.PrepSend(slot, b, uint64(slot)) }
			if slot%2 == 1 {
				prep = func() error { return r.PrepSendmsg(slot, pieces, uint64(slot)) }
			}
			if err := prep(); err != nil {
				t.Fatal(err)
			}
		}
		calls, outcomes := submit(t, r)
		if calls != c.calls || len(outcomes) != c.sends {
			t.Errorf("%+v: %d calls, %d results", c, calls, len(outcomes))
		}
	}
}
