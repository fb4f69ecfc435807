package sys

import (
	"net"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestEventfdEndsWait(t *testing.T) {
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
	if err := EpollCtl(set, EpollAdd, bell, &EpollEvent{Events: EpollIn | EpollEdge}); err != nil {
		t.Fatal(err)
	}
	if _, err := EventfdRead(bell); err != syscall.EAGAIN {
		t.Fatalf("EventfdRead = %v", err)
	}
	start := time.Now()
	if n, err := EpollWait(set, make([]EpollEvent, 1), time.Microsecond); n != 0 || err != nil {
		t.Fatalf("EpollWait = %d, %v", n, err)
	}
	if time.Since(start) < time.Microsecond {
		t.Error("a time-out was rounded down")
	}
	done := make(chan error)
	go func() {
		EventfdWrite(bell)
		done <- EventfdWrite(bell)
	}()
	waitFor(t, set, 1)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n, err := EventfdRead(bell); n != 2 || err != nil {
		t.Fatalf("EventfdRead = %d, %v", n, err)
	}
}

func TestAccept4(t *testing.T) {
	listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(listener)
	if err := unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(listener, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := Accept4(listener); err != syscall.EAGAIN {
		t.Fatalf("Accept4 of nothing = %v", err)
	}
	name, _ := unix.Getsockname(listener)
	port := name.(*unix.SockaddrInet4).Port
	c, err := net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fd, err := Accept4(listener)
	if err != nil {
		t.Fatal(err)
	}
	defer Close(fd)
	if flags, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); flags&unix.O_NONBLOCK == 0 {
		t.Error("not in non-blocking mode")
	}
}

func TestPinThread(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	if err := PinThread(cpu); err != nil {
		t.Fatal(err)
	}
	if err := unix.SchedGetaffinity(0, &allowed); err != nil || allowed.Count() != 1 {
		t.Errorf("%d cores, %v", allowed.Count(), err)
	}
	for _, cpu := range []int{-1, 1 << 20} {
		if err := PinThread(cpu); err != syscall.EINVAL {
			t.Errorf("PinThread(%d) = %v", cpu, err)
		}
	}
}
