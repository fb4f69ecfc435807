package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring/ringtest"
)

// asFantail makes this test binary be the program: built once, and with the same flags as
// the tests, the race detector's included.
const asFantail = "FANTAIL_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asFantail) != "" {
		main()
	}
	ringtest.Main(m)
}

// patience bounds every wait of a test.
const patience = 30 * time.Second

// process is a fantail at work.
type process struct {
	t           *testing.T
	cmd         *exec.Cmd
	in          io.WriteCloser
	out, log    *transcript
	transcripts sync.WaitGroup
	ended       chan struct{}
	code        int // after ended
}

// start runs fantail with args. It is killed when the test is over.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], args...), out: newTranscript(),
		log: newTranscript(), ended: make(chan struct{})}
	// The race detector's runtime would sleep for a second at each exit.
	p.cmd.Env = append(os.Environ(), asFantail+"=1", "GORACE=atexit_sleep_ms=0 "+
		os.Getenv("GORACE"))
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.transcripts.Go(func() { p.out.read(out) })
	p.transcripts.Go(func() { p.log.read(log) })
	go func() {
		defer close(p.ended)
		p.transcripts.Wait()
		if err := p.cmd.Wait(); err != nil {
			p.code = -1
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				p.code = exit.ExitCode()
			}
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		p.out.hold(false)
		p.in.Close()
		<-p.ended
		if t.Failed() {
			t.Logf("fantail %s: exit code %d\n%s%s", strings.Join(args, " "), p.code,
				clip(p.out.text()), clip(p.log.text()))
		}
	})
	return p
}

func clip(s string) string {
	const most = 4 << 10
	if len(s) > most {
		return s[:most/2] + "\n…\n" + s[len(s)-most/2:]
	}
	return s
}

// wait answers the exit code, once the process has ended by itself.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.code
	case <-time.After(patience):
		p.t.Fatalf("fantail %s did not end", strings.Join(p.cmd.Args[1:], " "))
		return 0
	}
}

// signal sends a signal.
func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// fantail runs a command to its end.
func fantail(t *testing.T, input string, args ...string) (code int, out, log string) {
	t.Helper()
	p := start(t, args...)
	_, _ = io.WriteString(p.in, input) // a process that does not read is no error
	p.in.Close()
	code = p.wait()
	return code, p.out.text(), p.log.text()
}

// serve starts a server on a free port, and answers its address too.
func serve(t *testing.T, args ...string) (p *process, address string) {
	t.Helper()
	p = start(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	return p, p.out.find(t, `listening on ([^,]+),`)
}

// subscribe starts a sub, and answers once it has subscribed.
func subscribe(t *testing.T, address string, args ...string) *process {
	t.Helper()
	p := start(t, append([]string{"sub", "--server", address}, args...)...)
	p.log.find(t, "(subscribed)")
	return p
}

// publish runs a pub that must work.
func publish(t *testing.T, address string, args ...string) (log string) {
	t.Helper()
	code, _, log := fantail(t, "", append([]string{"pub", "--server", address}, args...)...)
	if code != 0 {
		t.Fatalf("pub %v: exit code %d: %s", args, code, log)
	}
	return log
}

// transcript is what a process has written so far.
type transcript struct {
	mu      sync.Mutex
	lines   strings.Builder
	held    chan struct{} // not nil while nothing is read
	changed chan struct{} // closed and replaced with every line, and at the end
	ended   bool
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (s *transcript) read(r io.Reader) {
	in := bufio.NewReader(r)
	for {
		s.mu.Lock()
		held := s.held
		s.mu.Unlock()
		if held != nil {
			<-held
		}
		line, err := in.ReadString('\n')
		s.mu.Lock()
		s.lines.WriteString(line)
		s.ended = err != nil
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// hold stops reading after the next line, or goes on.
func (s *transcript) hold(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case on && s.held == nil:
		s.held = make(chan struct{})
	case !on && s.held != nil:
		close(s.held)
		s.held = nil
	}
}

// text is all of it.
func (s *transcript) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines.String()
}

// find waits until the text matches, and answers the first group.
func (s *transcript) find(t *testing.T, pattern string) string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		text, changed, ended := s.lines.String(), s.changed, s.ended
		s.mu.Unlock()
		if found := expression.FindStringSubmatch(text); found != nil {
			return found[1]
		}
		if ended {
			t.Fatalf("the process ended without %q; it said:\n%s", pattern, clip(text))
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("no %q; the process said:\n%s", pattern, clip(text))
		}
	}
}
