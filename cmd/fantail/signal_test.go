//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fantail-io/fantail/netio/client"
)

func TestSigtermDrains(t *testing.T) {
	p, address := serve(t)
	s := subscribe(t, address, "load", "--count", "20000", "--format", "none", "--policy", "wait")
	publish(t, address, "load", "--size", "1000", "--count", "20000")
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		t.Errorf("serve: exit code %d", code)
	}
	if log := p.log.text(); !strings.Contains(log, "everything was delivered, of 20,000 messages") {
		t.Errorf("serve says %q", log)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("sub: exit code %d", code)
	}
}

// stuck is a subscriber that has asked for everything and reads nothing; more is queued for
// it than the sockets take.
func stuck(t *testing.T, address string) {
	t.Helper()
	c, err := client.Dial(context.Background(), address, client.Config{SocketBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Subscribe(t.Context(), ">", client.SubscribeOptions{}); err != nil {
		t.Fatal(err)
	}
	publish(t, address, "load", "--size", "50000", "--count", "1000")
}

func TestSigtermSaysWhatWasNotDelivered(t *testing.T) {
	p, address := serve(t, "--drain", "100ms")
	stuck(t, address)
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if log := p.log.text(); !strings.Contains(log, "messages undelivered:") ||
		!strings.Contains(log, "queued for 1 connection") {
		t.Errorf("serve says %q", log)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	p, address := serve(t, "--drain", "1h")
	stuck(t, address)
	p.signal(syscall.SIGTERM)
	p.log.find(t, "(ending:)")
	p.signal(os.Interrupt)
	if code := p.wait(); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if log := p.log.text(); !strings.Contains(log, "second signal: ended at once") {
		t.Errorf("serve says %q", log)
	}
}

func TestSubEndsWithASummary(t *testing.T) {
	_, address := serve(t)
	s := subscribe(t, address, ">")
	publish(t, address, "a", "b")
	s.out.find(t, "(\n)")
	s.signal(os.Interrupt)
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if log := s.log.text(); !strings.Contains(log, "received 1 message (1 B)") {
		t.Errorf("sub says %q", log)
	}
	short := subscribe(t, address, ">", "--count", "2")
	short.signal(os.Interrupt)
	if code := short.wait(); code != exitFailed {
		t.Errorf("with --count: exit code %d", code)
	}
	if log := short.log.text(); !strings.Contains(log, "interrupted, with 2 messages to come") {
		t.Errorf("sub says %q", log)
	}
}

// A pub that waits for a terminal can be ended, and what it published has arrived.
func TestPubCanBeInterrupted(t *testing.T) {
	_, address := serve(t)
	s := subscribe(t, address, ">", "--count", "1", "--format", "raw")
	p := start(t, "pub", "typed", "--server", address)
	if _, err := p.in.Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if code := s.wait(); code != 0 || s.out.text() != "one\n" {
		t.Errorf("sub: exit code %d, %q", code, s.out.text())
	}
	p.signal(os.Interrupt)
	if code := p.wait(); code != exitFailed {
		t.Errorf("pub: exit code %d", code)
	}
	if log := p.log.text(); !strings.Contains(log, "published 1 message ") ||
		!strings.Contains(log, "the server has those that were published") {
		t.Errorf("pub says %q", log)
	}
}

func TestSubComesBackToANewServer(t *testing.T) {
	p, address := serve(t)
	s := subscribe(t, address, ">", "--format", "raw")
	publish(t, address, "a", "before")
	s.out.find(t, "(before)")
	p.signal(syscall.SIGKILL)
	p.wait()
	again := start(t, "serve", "--listen", address)
	again.out.find(t, "(listening on)")
	gap := s.log.find(t, "(GAP: .*)")
	if !strings.Contains(gap, "(reconnect)") || !strings.Contains(gap, "started anew") {
		t.Errorf("sub says %q", gap)
	}
	publish(t, address, "a", "after")
	s.out.find(t, "(after)")
}

func TestTokenFileThatOthersMayReadIsWarnedOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	p, _ := serve(t, "--token-file", file)
	p.log.find(t, "(chmod 600)")
}

func TestListeningAnywhereWithoutATokenIsWarnedOf(t *testing.T) {
	p := start(t, "serve", "--listen", "0.0.0.0:0")
	p.log.find(t, "(other machines can reach)")
}
