package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// jobs are what this test's binary does as a child.
var jobs = map[string]Job{
	"echo": func(s *Session) error {
		var prefix string
		if err := s.Config(&prefix); err != nil {
			return err
		}
		for {
			line, err := s.Next()
			if err != nil {
				return nil
			}
			if line == "fail" {
				return errors.New("as told")
			}
			if err := s.Report(prefix + line); err != nil {
				return err
			}
		}
	},
	"hang": func(s *Session) error {
		if err := s.Report(os.Getpid()); err != nil {
			return err
		}
		<-make(chan struct{})
		return nil
	},
	"parent": func(s *Session) error {
		var c Command
		if err := s.Config(&c); err != nil {
			return err
		}
		p, err := Start(c)
		if err != nil {
			return err
		}
		if c.Path == "" {
			if err := p.Receive(s.Context(), nil); err != nil {
				return err
			}
		}
		if err := s.Report(p.PID()); err != nil {
			return err
		}
		<-p.Done()
		return nil
	},
}

func TestMain(m *testing.M) {
	Main(os.Args, jobs)
	os.Exit(m.Run())
}

func start(t *testing.T, c Command) *Process {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestConversation(t *testing.T) {
	ctx := t.Context()
	p := start(t, Command{Args: []string{"echo"}, Config: "you said "})
	for _, line := range []string{"one", "two"} {
		var got string
		if err := p.Ask(ctx, line, &got); err != nil || got != "you said "+line {
			t.Fatalf("Ask(%q) = %q, %v", line, got, err)
		}
	}
	if err := p.Ask(ctx, "fail", nil); err == nil || !strings.Contains(err.Error(), "as told") {
		t.Errorf("a job's error came as %v", err)
	}
	if err := p.Receive(ctx, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v, want ErrEnded", err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestReceiveObeysContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := start(t, Command{Args: []string{"echo"}, Config: ""})
	cancel(why)
	if err := p.Receive(ctx, nil); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func TestCloseEndsAHangingChild(t *testing.T) {
	p := start(t, Command{Args: []string{"hang"}, Config: 0})
	if err := p.Receive(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	p.Close()
	select {
	case <-p.Done():
	default:
		t.Error("the child goes on")
	}
	if err := p.Tell("hello"); err == nil {
		t.Error("somebody listens")
	}
}

func TestUnknownRoleAndProgram(t *testing.T) {
	p := start(t, Command{Args: []string{"no such role"}, Config: 0})
	if err := p.Receive(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "role") {
		t.Errorf("got %v", err)
	}
	if _, err := Start(Command{Path: "/no/such/program"}); err == nil {
		t.Error("a program that does not exist was started")
	}
}

func TestExpect(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell here")
	}
	p := start(t, Command{Path: "sh", Args: []string{"-c", "echo hello; echo it is ready; echo bye"}})
	if err := p.Expect(t.Context(), "ready"); err != nil {
		t.Fatal(err)
	}
	err := p.Expect(t.Context(), "never said")
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "bye") {
		t.Errorf("got %v; want ErrEnded and what was said last", err)
	}
}

// An orphan would keep the pipe that is its standard error open.
func TestParentDiesAndChildrenToo(t *testing.T) {
	commands := map[string]Command{"of this program": {Args: []string{"hang"}, Config: 0}}
	if runtime.GOOS == "linux" { // elsewhere a foreign program outlives its parent's death
		commands["foreign"] = Command{Path: "sleep", Args: []string{"1000"}}
	}
	for name, c := range commands {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			p := start(t, Command{Args: []string{"parent"}, Config: c, Stderr: w})
			w.Close()
			var pid int
			if err := p.Receive(t.Context(), &pid); err != nil || pid == 0 {
				t.Fatalf("child %d, %v", pid, err)
			}
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := r.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if said, err := io.ReadAll(r); err != nil {
				t.Errorf("process %d outlives its parent: %v (it said %q)", pid, err, said)
			}
		})
	}
}

func TestServeWithoutConfig(t *testing.T) {
	var out bytes.Buffer
	err := serve(strings.NewReader(""), &out, jobs["echo"], func(int) {})
	var r report
	if json.Unmarshal(out.Bytes(), &r) != nil || err == nil || r.Error == "" {
		t.Errorf("error %v, reported as %q", err, out.String())
	}
}
