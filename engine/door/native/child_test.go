package native

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
)

// child is a copy of this test binary with a role, as another process.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	ended bool
}

// startChild starts a role with settings, as KEY=value.
func startChild(t testing.TB, role string, settings ...string) *child {
	t.Helper()
	c := &child{t: t, cmd: exec.Command(os.Args[0], "-test.run=^$")}
	c.cmd.Env = append(append(os.Environ(), childRole+"="+role), settings...)
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// expect reads a line that begins with word, and answers the rest.
func (c *child) expect(word string) string {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("the child ended where %q was expected: %v", word, c.out.Err())
	}
	rest, ok := strings.CutPrefix(c.out.Text(), word)
	if !ok {
		c.t.Fatalf("the child says %q, want %q", c.out.Text(), word)
	}
	return strings.TrimSpace(rest)
}

// say writes a line to the child's standard input.
func (c *child) say(line string) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		c.t.Fatal(err)
	}
}

// kill ends the child with SIGKILL. It is idempotent.
func (c *child) kill() {
	if c.ended {
		return
	}
	c.ended = true
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	c.in.Close()
}

// policySettings say a policy to a child.
func policySettings(p ring.Policy) []string {
	return []string{"POLICY=" + p.Kind.String(), fmt.Sprintf("LAG=%d", p.MaxLag),
		fmt.Sprintf("FOR=%d", p.For.Milliseconds())}
}

// number is a setting; zero where there is none.
func number(key string) int {
	n, _ := strconv.Atoi(os.Getenv(key))
	return n
}

// childSubscriber subscribes to PATTERN, says ready, reads until TOTAL messages and losses
// came or the connection ended, and says what it has got: each publisher, numbered from 1,
// published EACH.
func childSubscriber() error {
	kind, err := ring.ParsePolicyKind(os.Getenv("POLICY"))
	if err != nil {
		return err
	}
	r, err := newReader(os.Getenv("ADDRESS"), os.Getenv("PATTERN"), ring.Policy{Kind: kind,
		MaxLag: uint32(number("LAG")), For: time.Duration(number("FOR")) * time.Millisecond})
	if err != nil {
		return err
	}
	_ = r.link.nc.SetReadBuffer(64 << 10)
	fmt.Println("ready")
	go r.run()
	total, each := uint64(number("TOTAL")), uint64(number("EACH"))
	_ = r.await(context.Background(), total)
	if r.counted.Load() >= total {
		r.stop()
		want := make(map[uint32]uint64)
		for p := uint64(1); each > 0 && p <= total/each; p++ {
			want[uint32(p)] = each
		}
		r.err = r.history.Done(want)
	}
	fmt.Printf("got messages=%d lost=%d code=%d err=%v\n", r.history.Messages(), r.history.Lost(), r.code, r.err)
	return nil
}

// got is what childSubscriber says at its end.
type got struct {
	messages, lost uint64
	code           native.Code
	err            string
}

func (c *child) got() got {
	c.t.Helper()
	var g got
	text := c.expect("got")
	head, rest, _ := strings.Cut(text, " err=")
	if _, err := fmt.Sscanf(head, "messages=%d lost=%d code=%d", &g.messages, &g.lost, &g.code); err != nil {
		c.t.Fatalf("%q: %v", text, err)
	}
	g.err = rest
	return g
}

// childPublisher publishes COUNT messages and half of one more, says half, and waits.
func childPublisher() error {
	s, err := newSource(os.Getenv("ADDRESS"), os.Getenv("TOPIC"), uint32(number("NUMBER")), 100, 900)
	if err != nil {
		return err
	}
	if err := s.publish(number("COUNT")); err != nil {
		return err
	}
	if err := s.sync(); err != nil {
		return err
	}
	if err := s.half(); err != nil {
		return err
	}
	fmt.Println("half")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// childServer serves at ADDRESS, says where, and answers its standard input: "snapshot",
// and on Linux what serveLine adds.
func childServer() error {
	e, err := engine.New(engine.Config{StreamBytes: 4 << 20, BlockBytes: 64 << 10})
	if err != nil {
		return err
	}
	var l *Listener
	for deadline := time.Now().Add(10 * time.Second); ; {
		// Whoever was killed a moment ago may still hold the port.
		l, err = Listen(e, "tcp", os.Getenv("ADDRESS"), Config{HeartbeatEvery: 100 * time.Millisecond, IdleTimeout: 30 * time.Second})
		var busy *net.OpError
		if err == nil || !errors.As(err, &busy) || time.Now().After(deadline) {
			break
		}
	}
	if err != nil {
		return err
	}
	fmt.Println("address", l.Addr())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch line := lines.Text(); line {
		case "snapshot":
			s := l.Snapshot()
			fmt.Printf("snapshot open=%d accepted=%d retries=%d\n", s.Open, s.Accepted, s.AcceptRetries)
		default:
			if serveLine == nil {
				return fmt.Errorf("a server was asked to %q", line)
			}
			if err := serveLine(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// serveLine handles more lines, where the system has something to add.
var serveLine func(line string) error
