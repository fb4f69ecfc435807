package uring

import (
	"errors"
	"io"
	"syscall"
	"testing"
)

func TestFullRing(t *testing.T) {
	r := newRing(t, Config{Entries: 3})
	if r.Entries() != 4 {
		t.Fatalf("%d entries", r.Entries())
	}
	fds, peers := connect(t, 1)
	if err := r.PrepSend(0, nil, 0); err != ErrSlot {
		t.Errorf("PrepSend to nobody = %v", err)
	}
	if err := r.RegisterFile(0, fds[0]); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		for i := range 4 {
			if err := r.PrepSend(0, []byte{byte('a' + i)}, uint64(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.PrepSend(0, []byte("e"), 4); err != ErrFull {
			t.Fatalf("PrepSend = %v", err)
		}
		if err := r.PrepSendmsg(0, make([]Iovec, 1), 4); err != ErrFull {
			t.Fatalf("PrepSendmsg = %v", err)
		}
		if _, outcomes := submit(t, r); len(outcomes) != 4 {
			t.Fatalf("round %d: %v", round, outcomes)
		}
		expect(t, peers[0], "abcd")
	}
	if calls, outcomes := submit(t, r); calls != 0 || outcomes != nil {
		t.Errorf("nothing prepared: %d calls, %v", calls, outcomes)
	}
}

func TestSlots(t *testing.T) {
	r := newRing(t, Config{Files: 2})
	if r.Files() != 2 {
		t.Fatalf("a table of %d", r.Files())
	}
	fds, peers := connect(t, 2)
	for _, slot := range []int{-1, MaxSlot + 1} {
		if err := r.RegisterFile(slot, fds[0]); err != ErrSlot {
			t.Errorf("RegisterFile(%d) = %v", slot, err)
		}
		if err := r.PrepSend(slot, nil, 0); err != ErrSlot {
			t.Errorf("PrepSend(%d) = %v", slot, err)
		}
		if err := r.Unregister(slot); err != nil {
			t.Errorf("Unregister(%d) = %v", slot, err)
		}
	}
	if err := r.RegisterFile(0, -1); err != syscall.EBADF {
		t.Errorf("RegisterFile of nothing = %v", err)
	}
	if err := r.RegisterFile(0, 1<<20); !errors.Is(err, syscall.EBADF) {
		t.Errorf("RegisterFile of nothing = %v", err)
	}
	for _, slot := range []int{1, 7} { // within the table, and beyond
		for i, fd := range fds { // the second takes the place of the first
			if err := r.RegisterFile(slot, fd); err != nil {
				t.Fatal(err)
			}
			if n := send(t, r, slot, []byte("mine")); n != 4 {
				t.Fatalf("send = %d", n)
			}
			expect(t, peers[i], "mine")
		}
		if err := r.Unregister(slot); err != nil {
			t.Fatal(err)
		}
		if err := r.PrepSend(slot, nil, 0); err != ErrSlot {
			t.Errorf("PrepSend = %v", err)
		}
	}
	// Nothing holds the connection any more: its peer sees the end.
	closeFile(&fds[0])
	if n, err := peers[0].Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("peer read %d, %v", n, err)
	}
}

func TestCloseLetsFilesGo(t *testing.T) {
	r := newRing(t, Config{Files: 8})
	fds, peers := connect(t, 1)
	if err := r.RegisterFile(0, fds[0]); err != nil {
		t.Fatal(err)
	}
	if err := r.PrepSend(0, []byte("never"), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	closeFile(&fds[0])
	if n, err := peers[0].Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("peer read %d, %v", n, err)
	}
	if err := r.PrepSend(0, nil, 0); err != ErrClosed {
		t.Errorf("PrepSend = %v", err)
	}
	if _, err := r.SubmitAndReap(nil); err != ErrClosed {
		t.Errorf("SubmitAndReap = %v", err)
	}
	if err := r.RegisterFile(0, 0); err != ErrClosed {
		t.Errorf("RegisterFile = %v", err)
	}
	if err := r.Unregister(0); err != ErrClosed {
		t.Errorf("Unregister = %v", err)
	}
}
