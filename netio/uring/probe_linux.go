package uring

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Probe tells whether io_uring does here what a Ring needs: nil, or an *UnsupportedError
// where the kernel lacks it or a container forbids it, or the system's error where resources
// are short. It asks by doing: it sends over a pair of sockets until they are full, which
// takes a fraction of a millisecond. Any goroutine.
func Probe() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := New(Config{Entries: 2})
	if err != nil {
		return err
	}
	defer r.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("uring: probe: %w", err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if err := r.RegisterFile(0, pair[0]); err != nil {
		return fmt.Errorf("uring: probe: %w", err)
	}
	return probe(r, make([]byte, 64<<10))
}

// probeSends bounds the sends until a pair of sockets must be full.
const probeSends = 1024

// errWaits is a kernel that keeps a send to a full socket in spite of MSG_DONTWAIT.
var errWaits = errors.New("a send that must not wait is kept")

func probe(r *Ring, b []byte) error {
	pieces := make([]Iovec, 1)
	pieces[0].Set(b)
	full := [2]bool{}
	unsupported := func(err error) error {
		return &UnsupportedError{Feature: "io_uring", MinKernel: minKernel, Err: err}
	}
	for range probeSends {
		var bad error
		if err := r.PrepSend(0, b, 0); err != nil {
			return err
		}
		if err := r.PrepSendmsg(0, pieces, 1); err != nil {
			return err
		}
		if err := r.submit(); err != nil {
			return unsupported(err) // it may be set up, and not be used
		}
		r.reap(func(userData uint64, result int32) {
			switch {
			case result == -int32(syscall.EAGAIN):
				full[userData] = true
			case result < 0:
				bad = syscall.Errno(-result)
			}
		})
		switch {
		case bad != nil:
			return unsupported(bad)
		case r.flying > 0:
			return unsupported(errWaits)
		case full[0] && full[1]:
			return nil
		}
	}
	return unsupported(errors.New("a socket takes bytes without end"))
}
