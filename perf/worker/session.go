package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// Job is what a child does: read its configuration, say that it is ready, wait for commands,
// and return the result, which must be fit for JSON.
type Job func(s *Session) (result any, err error)

// Config is what Serve works with.
type Config struct {
	// Jobs are the kinds of work on offer.
	Jobs map[string]Job
	// Exit ends the process where a job outlives its parent. Nil: nothing does.
	Exit func(code int)
}

// Session is a child's side of the conversation.
type Session struct {
	ctx      context.Context
	config   json.RawMessage
	commands chan string

	mu struct {
		sync.Mutex
		out io.Writer
		err error
	}
}

// Serve does the job of that kind and reports its result on out. The error is the job's,
// and has been reported already, or one of the conversation.
func Serve(kind string, in io.Reader, out io.Writer, c Config) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &Session{ctx: ctx, commands: make(chan string, 16)}
	s.mu.out = out
	job := c.Jobs[kind]
	if job == nil {
		return s.fail(fmt.Errorf("there is no job %q", kind))
	}
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return s.fail(fmt.Errorf("no configuration: %w", err))
	}
	s.config = bytes.TrimSpace(first)
	go s.listen(lines, cancel, c.Exit)
	result, err := job(s)
	if err != nil {
		return s.fail(err)
	}
	return s.send(kindResult, result)
}

// listen hands commands on until the parent hangs up.
func (s *Session) listen(lines *bufio.Reader, cancel func(), exit func(int)) {
	defer close(s.commands)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			cancel()
			if exit != nil {
				time.AfterFunc(OrphanGrace, func() { exit(1) })
			}
			return
		}
		var command string
		if err := json.Unmarshal([]byte(line), &command); err != nil {
			command = ""
		}
		select {
		case s.commands <- command:
		case <-s.ctx.Done():
			return
		}
	}
}

// Context ends when the parent has gone.
func (s *Session) Context() context.Context { return s.ctx }

// Config decodes what Start was given into v.
func (s *Session) Config(v any) error {
	if err := json.Unmarshal(s.config, v); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// Ready tells the parent that the work can begin.
func (s *Session) Ready(v any) error { return s.send(kindReady, v) }

// Progress tells the parent how things stand.
func (s *Session) Progress(v any) error { return s.send(kindProgress, v) }

// Next waits for the parent's next command. The error is the context's: the parent has gone.
func (s *Session) Next() (string, error) {
	select {
	case c, ok := <-s.commands:
		if !ok {
			return "", context.Canceled
		}
		return c, nil
	case <-s.ctx.Done():
		return "", s.ctx.Err()
	}
}

// Commands is the channel that Next reads; it is closed when the parent has gone.
func (s *Session) Commands() <-chan string { return s.commands }

func (s *Session) send(k kind, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("worker: %s: %w", k, err)
	}
	return s.write(report{Kind: k, Value: value})
}

func (s *Session) fail(err error) error {
	_ = s.write(report{Kind: kindError, Error: err.Error()}) // the job's error says more
	return err
}

func (s *Session) write(r report) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.err == nil {
		_, s.mu.err = s.mu.out.Write(append(line, '\n'))
	}
	return s.mu.err
}
