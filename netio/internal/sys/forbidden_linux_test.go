package sys_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/netio/uring"
	"github.com/fantail-io/fantail/ring"
)

const forbiddenVariable = "FANTAIL_TEST_FORBIDDEN"

// Containers forbid io_uring with a seccomp filter, as a whole or in part. It is here, and
// not in netio/uring, because setting a filter takes unsafe.
func TestProbeWhereForbidden(t *testing.T) {
	if argument := os.Getenv(forbiddenVariable); argument != "" {
		probeForbidden(t, argument)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		call  int
		errno syscall.Errno
	}{
		{"docker", unix.SYS_IO_URING_SETUP, syscall.EPERM},
		{"gvisor", unix.SYS_IO_URING_SETUP, syscall.ENOSYS},
		{"enter", unix.SYS_IO_URING_ENTER, syscall.EPERM},
		{"register", unix.SYS_IO_URING_REGISTER, syscall.EACCES}, // does without a table
	} {
		t.Run(c.name, func(t *testing.T) {
			child := exec.Command(exe, "-test.run=^TestProbeWhereForbidden$", "-test.v")
			child.Env = append(os.Environ(),
				fmt.Sprintf("%s=%d %d", forbiddenVariable, c.call, int(c.errno)))
			out, err := child.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if strings.Contains(string(out), "SKIP") {
				t.Skip(string(out))
			}
		})
	}
}

// probeForbidden is the child: it forbids itself a system call, for ever, and probes.
func probeForbidden(t *testing.T, argument string) {
	call, number, _ := strings.Cut(argument, " ")
	nr, _ := strconv.Atoi(call)
	code, _ := strconv.Atoi(number)
	if err := forbid(uint32(nr), uint32(code)); err != nil {
		t.Skipf("no seccomp here: %v", err)
	}
	err := uring.Probe()
	if nr == unix.SYS_IO_URING_REGISTER {
		if err != nil {
			t.Errorf("Probe = %v", err)
		}
		return
	}
	var typed *uring.UnsupportedError
	if !errors.As(err, &typed) || !errors.Is(err, ring.ErrNotSupported) ||
		!errors.Is(err, syscall.Errno(code)) {
		t.Errorf("Probe = %v", err)
	}
	t.Log(err)
}

// forbid makes a system call answer an errno in all threads of this process, which
// takes no privilege once they may gain none.
func forbid(call, errno uint32) error {
	const syncThreads = 1 // SECCOMP_FILTER_FLAG_TSYNC
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // its number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | errno},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	// Safety: program, and through it filter, is alive until the call returns.
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, syncThreads,
		uintptr(unsafe.Pointer(&program))); errno != 0 {
		return errno
	}
	return nil
}
