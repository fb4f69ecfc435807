package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// Options are how a child is started.
type Options struct {
	// Args go between the job's kind and the end of the child's command line.
	Args []string
	// OnProgress gets the value of each progress report, on a goroutine of the process. Nil:
	// they are dropped.
	OnProgress func(value json.RawMessage)
	// Stderr is the child's standard error. Nil: the parent's.
	Stderr io.Writer
}

// Process is a parent's side of the conversation.
type Process struct {
	job    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	ready  chan json.RawMessage // at most one
	result chan json.RawMessage // at most one
	done   chan struct{}        // the child has ended
	spoken atomic.Bool          // the child has said its last word
	close  sync.Once
	err    error // why there is no result; set before done
}

// ErrNoResult says that a child ended without a result.
var ErrNoResult = errors.New("worker: the process ended without a result")

// Start starts this program again as a child that does the job of that kind with config.
func Start(kind string, config any, o Options) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	line, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("worker: %s: %w", kind, err)
	}
	p := &Process{job: kind, ready: make(chan json.RawMessage, 1),
		result: make(chan json.RawMessage, 1), done: make(chan struct{})}
	p.cmd = exec.Command(self, append([]string{Arg, kind}, o.Args...)...)
	p.cmd.Stderr = o.Stderr
	if o.Stderr == nil {
		p.cmd.Stderr = os.Stderr
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	go p.follow(out, o.OnProgress)
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// follow reads the child's reports until it ends.
func (p *Process) follow(out io.Reader, progress func(json.RawMessage)) {
	defer close(p.done)
	p.err = ErrNoResult
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 64<<10), lineBytes)
	for lines.Scan() {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			p.err = fmt.Errorf("worker: %s: not a report: %.80q", p.job, lines.Text())
			break
		}
		switch r.Kind {
		case kindReady:
			offer(p.ready, r.Value)
		case kindResult:
			p.err = nil
			p.spoken.Store(true)
			offer(p.result, r.Value)
		case kindError:
			p.err = &JobError{Job: p.job, Text: r.Error}
			p.spoken.Store(true)
		case kindProgress:
			if progress != nil {
				progress(r.Value)
			}
		}
	}
	_, _ = io.Copy(io.Discard, out) // a child must not stall on its output
	if err := p.cmd.Wait(); err != nil && errors.Is(p.err, ErrNoResult) {
		p.err = fmt.Errorf("%w: %s: %v", ErrNoResult, p.job, err)
	}
}

func offer(c chan json.RawMessage, v json.RawMessage) {
	select {
	case c <- v:
	default: // a second one says nothing new
	}
}

// PID is the child's process number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ready waits until the child is ready, and decodes what it says; v may be nil.
func (p *Process) Ready(ctx context.Context, v any) error { return p.receive(ctx, p.ready, v) }

// Result waits until the child is done, and decodes its result; v may be nil.
func (p *Process) Result(ctx context.Context, v any) error { return p.receive(ctx, p.result, v) }

func (p *Process) receive(ctx context.Context, from chan json.RawMessage, v any) error {
	var value json.RawMessage
	select {
	case value = <-from:
	case <-p.done:
		select {
		case value = <-from:
		default:
			if p.err == nil {
				return fmt.Errorf("%w: %s: it skipped a step", ErrNoResult, p.job)
			}
			return p.err
		}
	case <-ctx.Done():
		return fmt.Errorf("worker: %s: %w", p.job, context.Cause(ctx))
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(value, v); err != nil {
		return fmt.Errorf("worker: %s: %w", p.job, err)
	}
	return nil
}

// Tell sends the child a command.
func (p *Process) Tell(command string) error {
	line, err := json.Marshal(command)
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("worker: %s: %w", p.job, err)
	}
	return nil
}

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Close ends the child and waits for it. One that has said its last word gets OrphanGrace to
// end by itself; any other is killed. It is idempotent.
func (p *Process) Close() error {
	p.close.Do(func() {
		p.in.Close() // the child's Next ends
		grace := time.Duration(0)
		if p.spoken.Load() {
			grace = OrphanGrace
		}
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.done:
		case <-timer.C:
			_ = p.cmd.Process.Kill() // fails where it has just ended: as wanted
		}
	})
	<-p.done
	return nil
}
