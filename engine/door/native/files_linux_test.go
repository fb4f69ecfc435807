package native

import (
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	roles["starved"] = childStarved
	serveLine = func(line string) error {
		switch line {
		case "hoard":
			for {
				f, err := os.Open(os.DevNull)
				if err != nil {
					break
				}
				hoard = append(hoard, f)
			}
		case "release":
			for _, f := range hoard {
				f.Close()
			}
			hoard = nil
		}
		fmt.Println("done", line)
		return nil
	}
}

// hoard is the descriptors that a starved server has taken.
var hoard []*os.File

// childStarved is a server that may have 64 descriptors.
func childStarved() error {
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}); err != nil {
		return err
	}
	return childServer()
}

type serverFigures struct{ open, accepted, retries int }

func (c *child) figures() (f serverFigures) {
	c.t.Helper()
	c.say("snapshot")
	text := c.expect("snapshot")
	if _, err := fmt.Sscanf(text, "open=%d accepted=%d retries=%d", &f.open, &f.accepted, &f.retries); err != nil {
		c.t.Fatalf("%q: %v", text, err)
	}
	return f
}

// F25: a server without descriptors goes on serving whom it has, tries to accept at a
// decent pace, and takes new peers once there are descriptors again.
func TestServerOutOfDescriptors(t *testing.T) {
	c := startChild(t, "starved", "ADDRESS=127.0.0.1:0")
	address := c.expect("address")
	r, err := newReader(address, "starved", waitPolicy)
	if err != nil {
		t.Fatal(err)
	}
	go r.run()
	defer r.link.nc.Close()
	s, err := newSource(address, "starved", 1, 64, 512)
	if err != nil {
		t.Fatal(err)
	}
	defer s.link.nc.Close()
	publish := func(n int) {
		t.Helper()
		if err := s.publish(n); err != nil {
			t.Fatal(err)
		}
		if err := s.sync(); err != nil {
			t.Fatal(err)
		}
	}
	publish(1_000)

	c.say("hoard")
	c.expect("done")
	started := time.Now()
	waiting, err := net.Dial("tcp", address) // into the backlog
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	for c.figures().retries < 3 {
		publish(10) // those whom it has are served
	}
	// 10 ms, 20 ms, … 1 s apart: not one retry for each 10 ms of the wait.
	if n, most := c.figures().retries, 8+int(time.Since(started)/(500*time.Millisecond)); n > most {
		t.Errorf("%d retries in %v", n, time.Since(started))
	}
	c.say("release")
	c.expect("done")
	k, err := dialLink(address)
	if err != nil {
		t.Fatal(err)
	}
	k.nc.Close()

	crowd := crowdOf(t, address, 100)
	publish(1_000)
	for _, nc := range crowd {
		nc.Close()
	}
	waiting.Close()
	for deadline := time.Now().Add(10 * time.Second); c.figures().open > 2; {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", c.figures())
		}
	}
	// The dead that wait in the backlog may still take them all for a moment.
	for deadline := time.Now().Add(10 * time.Second); ; {
		if k, err = dialLink(address); err == nil {
			k.nc.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after the descriptors came back: %v", err)
		}
	}
	t.Logf("%+v", c.figures())
	r.complete(t, map[uint32]uint64{1: s.next.Sequence}, false)
}

// crowdOf connects n times, more than the server has descriptors for, and waits until it
// has dealt with as many as it can.
func crowdOf(t *testing.T, address string, n int) (all []net.Conn) {
	t.Helper()
	for range n {
		nc, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, nc)
	}
	return all
}
