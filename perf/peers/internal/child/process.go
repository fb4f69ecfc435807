package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Arg is the first argument of a child of this program; its role follows.
const Arg = "child"

const (
	lineBytes    = 16 << 20 // bounds one line of a child
	linesPending = 1024     // lines kept for Receive; more are dropped: a chatty broker's log
)

// ErrEnded says that a child ended before it answered.
var ErrEnded = errors.New("child: the process has ended")

// Command is what to start.
type Command struct {
	// Path is the program. Empty: this one, in the role that Args[0] names.
	Path string
	Args []string
	// Config becomes the child's first line of input. Nil: none.
	Config any
	// Stderr is the child's standard error. Nil: the parent's.
	Stderr io.Writer
}

// Process is the parent's side of the conversation.
type Process struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string   // closed when the child's output has ended
	done  chan struct{} // the child has been waited for
}

// report is a line from a child of this program.
type report struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Start starts a child.
func Start(c Command) (*Process, error) {
	name, args := c.Path, c.Args
	if c.Path == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("child: %w", err)
		}
		name, args = c.Args[0], append([]string{Arg}, c.Args...)
		c.Path = self
	}
	p := &Process{name: name, lines: make(chan string, linesPending), done: make(chan struct{})}
	p.cmd = exec.Command(c.Path, args...)
	p.cmd.SysProcAttr = attributes()
	if p.cmd.Stderr = c.Stderr; c.Stderr == nil {
		p.cmd.Stderr = os.Stderr
	}
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	started := make(chan error)
	go p.run(out, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("child: %s: %w", name, err)
	}
	if c.Config != nil {
		line, err := json.Marshal(c.Config)
		if err == nil {
			err = p.Tell(string(line))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("child: %s: %w", name, err), p.Close())
		}
	}
	return p, nil
}

// run starts the child and waits for it on one thread: the kernel kills the child when the
// *thread* that started it ends, and a thread without a goroutine may end at any time.
func (p *Process) run(out io.Reader, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(out)
	}()
	<-read // Wait would close the pipe under the reader
	_ = p.cmd.Wait()
	close(p.done)
}

func (p *Process) read(out io.Reader) {
	defer close(p.lines)
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), lineBytes)
	for lines.Scan() {
		select {
		case p.lines <- lines.Text():
		default:
		}
	}
	_, _ = io.Copy(io.Discard, out) // a child must not stall on its output
}

// PID is the child's process number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Tell sends the child a line.
func (p *Process) Tell(line string) error {
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return fmt.Errorf("child: %s: %w", p.name, err)
	}
	return nil
}

// Receive waits for the child's next report and decodes it; v may be nil.
func (p *Process) Receive(ctx context.Context, v any) error {
	line, err := p.line(ctx)
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		return fmt.Errorf("child: %s: not a report: %.80q", p.name, line)
	}
	if r.Error != "" {
		return fmt.Errorf("child: %s: %s", p.name, r.Error)
	}
	if v == nil {
		return nil
	}
	if err := json.NewDecoder(bytes.NewReader(r.Value)).Decode(v); err != nil {
		return fmt.Errorf("child: %s: %w", p.name, err)
	}
	return nil
}

// Ask tells the child a line and receives the answer.
func (p *Process) Ask(ctx context.Context, line string, v any) error {
	if err := p.Tell(line); err != nil {
		return err
	}
	return p.Receive(ctx, v)
}

// Expect reads the output of a program that makes no reports until a line holds text.
func (p *Process) Expect(ctx context.Context, text string) error {
	var said []string
	for {
		line, err := p.line(ctx)
		if err != nil {
			return fmt.Errorf("%w; it said %q", err, strings.Join(said, "\n"))
		}
		if strings.Contains(line, text) {
			return nil
		}
		if line != "" {
			said = append(said, line)
			said = said[max(0, len(said)-3):]
		}
	}
}

func (p *Process) line(ctx context.Context) (string, error) {
	select {
	case line, ok := <-p.lines:
		if !ok {
			<-p.done
			return "", fmt.Errorf("%w: %s: %v", ErrEnded, p.name, p.cmd.ProcessState)
		}
		return line, nil
	case <-ctx.Done():
		return "", fmt.Errorf("child: %s: %w", p.name, context.Cause(ctx))
	}
}

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Close kills the child, if need be, and waits for it. It is idempotent.
func (p *Process) Close() error {
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // fails where it has just ended: as wanted
	<-p.done
	return nil
}
