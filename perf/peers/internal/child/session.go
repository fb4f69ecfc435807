package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// Job is what a child does. Its error is reported to the parent.
type Job func(s *Session) error

// orphanGrace is how long a job may go on after its parent has gone.
const orphanGrace = 2 * time.Second

// Session is a child's side of the conversation. One goroutine uses it.
type Session struct {
	ctx      context.Context
	config   []byte
	commands chan string
	out      io.Writer
}

// Main does the job that the command line names, if it is a child's, and ends the process;
// otherwise it returns.
func Main(args []string, jobs map[string]Job) {
	if len(args) < 3 || args[1] != Arg {
		return
	}
	if err := serve(os.Stdin, os.Stdout, jobs[args[2]], os.Exit); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(in io.Reader, out io.Writer, job Job, exit func(int)) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &Session{ctx: ctx, commands: make(chan string, 16), out: out}
	if job == nil {
		return s.fail(fmt.Errorf("there is no such role"))
	}
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return s.fail(fmt.Errorf("no configuration: %w", err))
	}
	s.config = bytes.TrimSpace(first)
	go s.listen(lines, cancel, exit)
	if err := job(s); err != nil {
		return s.fail(err)
	}
	return nil
}

// listen hands lines on until the parent hangs up.
func (s *Session) listen(lines *bufio.Reader, cancel func(), exit func(int)) {
	defer close(s.commands)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			cancel()
			time.AfterFunc(orphanGrace, func() { exit(1) })
			return
		}
		select {
		case s.commands <- line[:len(line)-1]:
		case <-s.ctx.Done():
			return
		}
	}
}

// Context ends when the parent has gone, or the job is done.
func (s *Session) Context() context.Context { return s.ctx }

// Config decodes what the parent's Command holds into v.
func (s *Session) Config(v any) error {
	if err := json.Unmarshal(s.config, v); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// Commands are the parent's lines; the channel is closed when it has gone.
func (s *Session) Commands() <-chan string { return s.commands }

// Next waits for the parent's next line.
func (s *Session) Next() (string, error) {
	line, ok := <-s.commands
	if !ok {
		return "", io.EOF
	}
	return line, nil
}

// Report sends v to the parent as JSON.
func (s *Session) Report(v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}
	return s.write(report{Value: value})
}

func (s *Session) fail(err error) error {
	_ = s.write(report{Error: err.Error()}) // the job's error says more
	return err
}

func (s *Session) write(r report) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}
	_, err = s.out.Write(append(line, '\n'))
	return err
}
