package netiotest

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// NetNS is a network of its own, with nothing in it but a loopback interface that is up.
// It lives as long as its test.
type NetNS struct {
	calls chan func()
	tid   int
}

// NewNetNS makes a namespace, which takes root: see Skip.
func NewNetNS(t testing.TB) *NetNS {
	t.Helper()
	n := &NetNS{calls: make(chan func())}
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			started <- err
			return
		}
		n.tid = unix.Gettid()
		started <- nil
		for call := range n.calls {
			call()
		}
	}()
	if err := <-started; err != nil {
		Skip(t, &UnsupportedError{Feature: "netns", Cause: err})
	}
	t.Cleanup(func() {
		close(n.calls)
		<-ended
	})
	if err := n.IP("link set lo up"); err != nil {
		Skip(t, &UnsupportedError{Feature: "netns", Cause: err})
	}
	return n
}

// Do runs f on a thread that is in the namespace. Sockets that f opens, on this very
// goroutine, are there, wherever they are used later; so are processes that it starts.
func (n *NetNS) Do(f func()) {
	done := make(chan struct{})
	n.calls <- func() {
		defer close(done)
		f()
	}
	<-done
}

// IP runs ip(8) with those words in the namespace.
func (n *NetNS) IP(words string) (err error) {
	n.Do(func() {
		out, failed := exec.Command("ip", strings.Fields(words)...).CombinedOutput()
		if failed != nil {
			err = fmt.Errorf("ip %s: %w: %s", words, failed, out)
		}
	})
	return err
}

// Join lays a cable between two namespaces: an interface "cable" in each, with the
// addresses 10.99.0.1 here and 10.99.0.2 there.
func (n *NetNS) Join(t testing.TB, other *NetNS) {
	t.Helper()
	for _, step := range []struct {
		ns    *NetNS
		words string
	}{
		{n, fmt.Sprintf("link add cable type veth peer name cable netns /proc/%d/task/%d/ns/net",
			unix.Getpid(), other.tid)},
		{n, "addr add 10.99.0.1/24 dev cable"},
		{n, "link set cable up"},
		{other, "addr add 10.99.0.2/24 dev cable"},
		{other, "link set cable up"},
	} {
		if err := step.ns.IP(step.words); err != nil {
			Skip(t, &UnsupportedError{Feature: "netns", Cause: err})
		}
	}
}
