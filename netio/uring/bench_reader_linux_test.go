package uring

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// readerVariable tells the test binary that it is a reader: its address and connections.
const readerVariable = "FANTAIL_BENCH_READER"

// startReader starts a process that reads from subs connections, and answers our ends, and
// its number.
func startReader(b testing.TB, subs int) ([]int, int) {
	lc := net.ListenConfig{}
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(b.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	reader := exec.Command(exe)
	reader.Stderr = os.Stderr
	reader.Env = append(os.Environ(),
		fmt.Sprintf("%s=%s %d", readerVariable, l.Addr(), subs))
	if err := reader.Start(); err != nil {
		b.Fatal(err)
	}
	fds := make([]int, subs)
	for i := range fds {
		c, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		fds[i] = takeOver(b, c)
	}
	b.Cleanup(func() {
		for _, fd := range fds {
			sys.Close(fd)
		}
		if err := reader.Wait(); err != nil {
			b.Errorf("reader: %v", err)
		}
	})
	return fds, reader.Process.Pid
}

// takeOver answers a non-blocking descriptor of a connection, and closes the connection.
func takeOver(t testing.TB, c net.Conn) int {
	t.Helper()
	defer c.Close()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	fd := -1
	if cerr := raw.Control(func(s uintptr) { fd, err = sys.Dup(int(s)) }); cerr != nil || err != nil {
		t.Fatal(cerr, err)
	}
	return fd
}

// read is the reader: one thread that reads whatever there is until all is closed.
func read(argument string) error {
	runtime.LockOSThread()
	address, count, _ := strings.Cut(argument, " ")
	subs, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	set, err := sys.EpollCreate()
	if err != nil {
		return err
	}
	for range subs {
		c, err := net.Dial("tcp4", address)
		if err != nil {
			return err
		}
		raw, err := c.(syscall.Conn).SyscallConn()
		if err != nil {
			return err
		}
		if cerr := raw.Control(func(fd uintptr) {
			var own int
			if own, err = sys.Dup(int(fd)); err == nil {
				err = sys.EpollCtl(set, sys.EpollAdd, own,
					&sys.EpollEvent{Events: sys.EpollIn, Fd: int32(own)})
			}
		}); cerr != nil || err != nil {
			return fmt.Errorf("%v %v", cerr, err)
		}
		c.Close()
	}
	buffer, events := make([]byte, 256<<10), make([]sys.EpollEvent, subs)
	for open := subs; open > 0; {
		n, err := sys.EpollWait(set, events, -1)
		if err != nil {
			return err
		}
		for i := range events[:n] {
			fd := int(events[i].Fd)
			got, err := sys.Recv(fd, buffer)
			if err == nil && got == 0 || err != nil && err != syscall.EAGAIN {
				sys.Close(fd)
				open--
			}
		}
	}
	return nil
}

// tick is the unit of /proc's times, in nanoseconds: USER_HZ is 100 everywhere.
const tick = 10_000_000

// readerTime is the CPU time that a process used, in nanoseconds.
func readerTime(b testing.TB, pid int) int64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // a name may have spaces
	fields := strings.Fields(rest)
	return sum(b, fields[11:13]) * tick
}

// machineTime is the CPU time that all cores were busy, or taken from us, in nanoseconds.
func machineTime(b testing.TB) int64 {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		b.Fatal(err)
	}
	line, _, _ := strings.Cut(string(stat), "\n")
	fields := strings.Fields(line)[1:] // user nice system idle iowait irq softirq steal
	return (sum(b, fields[0:3]) + sum(b, fields[5:8])) * tick
}

func sum(b testing.TB, fields []string) (total int64) {
	for _, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		total += n
	}
	return total
}
