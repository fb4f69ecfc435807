package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fantail-io/fantail/ring/ringtest"
)

type settings struct{ Text string }

var jobs = map[string]Job{
	"echo": func(s *Session) (any, error) {
		var c settings
		if err := s.Config(&c); err != nil {
			return nil, err
		}
		if err := s.Ready(c); err != nil {
			return nil, err
		}
		command, err := s.Next()
		if err != nil {
			return nil, err
		}
		for i := range 3 {
			if err := s.Progress(i); err != nil {
				return nil, err
			}
		}
		return settings{Text: c.Text + " " + command}, nil
	},
	"fail":  func(*Session) (any, error) { return nil, errors.New("no luck") },
	"crash": func(*Session) (any, error) { os.Exit(3); return nil, nil },
	"hang": func(s *Session) (any, error) {
		if err := s.Ready(nil); err != nil {
			return nil, err
		}
		<-s.Context().Done()
		select {}
	},
	"babble": func(s *Session) (any, error) {
		fmt.Println("this is not a report")
		<-s.Context().Done()
		return nil, nil
	},
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == Arg {
		if Serve(os.Args[2], os.Stdin, os.Stdout, Config{Jobs: jobs, Exit: os.Exit}) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	ringtest.Main(m)
}

func start(t *testing.T, kind string, o Options) (*Process, context.Context) {
	t.Helper()
	p, err := Start(kind, settings{Text: "hello"}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return p, ctx
}

func TestConversation(t *testing.T) {
	progress := make(chan string, 8)
	p, ctx := start(t, "echo", Options{OnProgress: func(v json.RawMessage) {
		progress <- string(v)
	}})
	var c settings
	if err := p.Ready(ctx, &c); err != nil || c.Text != "hello" {
		t.Fatalf("Ready: %+v, %v", c, err)
	}
	if err := p.Tell("world"); err != nil {
		t.Fatal(err)
	}
	if err := p.Result(ctx, &c); err != nil || c.Text != "hello world" {
		t.Fatalf("Result: %+v, %v", c, err)
	}
	for i := range 3 {
		if got := <-progress; got != fmt.Sprint(i) {
			t.Fatalf("progress %d says %s", i, got)
		}
	}
	p.Close()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("the child ended with %d", code)
	}
}

func TestFailures(t *testing.T) {
	var want *JobError
	p, ctx := start(t, "fail", Options{})
	if err := p.Ready(ctx, nil); !errors.As(err, &want) || want.Text != "no luck" {
		t.Fatalf("a failing job: %v", err)
	}
	p, ctx = start(t, "crash", Options{})
	if err := p.Result(ctx, nil); !errors.Is(err, ErrNoResult) {
		t.Fatalf("a crash: %v", err)
	}
	p, ctx = start(t, "no such job", Options{})
	if err := p.Ready(ctx, nil); !errors.As(err, &want) {
		t.Fatalf("an unknown job: %v", err)
	}
}

func TestCloseEndsAChildThatHangs(t *testing.T) {
	p, ctx := start(t, "hang", Options{})
	if err := p.Ready(ctx, nil); err != nil {
		t.Fatal(err)
	}
	p.Close()
	select {
	case <-p.Done():
	default:
		t.Fatal("Close came back before the child had ended")
	}
}

func TestOutputThatIsNoReportIsAnError(t *testing.T) {
	p, ctx := start(t, "babble", Options{})
	p.in.Close() // so that the child ends
	if err := p.Ready(ctx, nil); err == nil || !strings.Contains(err.Error(), "not a report") {
		t.Fatalf("Ready: %v", err)
	}
}

func TestContextEndsAWait(t *testing.T) {
	p, _ := start(t, "hang", Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Result(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("Result: %v", err)
	}
}

func TestServeWithoutAConfiguration(t *testing.T) {
	var out bytes.Buffer
	err := Serve("echo", strings.NewReader(""), &out, Config{Jobs: jobs})
	if err == nil || !strings.Contains(out.String(), "no configuration") {
		t.Fatalf("Serve: %v, %s", err, out.String())
	}
}
