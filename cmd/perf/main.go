// Command perf measures Fantail: what it delivers, what that costs, and how near that is to
// what the kernel can do at all. Type perf -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/fantail-io/fantail/perf"
	"github.com/fantail-io/fantail/perf/worker"
)

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == worker.Arg {
		os.Exit(child(os.Args[2], os.Args[3:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// child does one job of a run: see package worker. Its parent ends it; a ^C at the terminal,
// which reaches both, is the parent's to handle.
func child(job string, args []string) int {
	signal.Ignore(os.Interrupt)
	fs := flag.NewFlagSet(job, flag.ContinueOnError)
	var p profiling
	p.register(fs)
	if err := fs.Parse(args); err != nil {
		return exitUsage
	}
	end, err := p.start()
	if err != nil {
		fmt.Fprintf(os.Stderr, "perf: %v\n", err)
		return exitFailed
	}
	err = worker.Serve(job, os.Stdin, os.Stdout, worker.Config{Jobs: perf.Jobs(), Exit: os.Exit})
	end()
	if err != nil {
		return exitFailed // its parent has been told
	}
	return 0
}

// errUsage says that what is wrong with the command line has been printed.
var errUsage = errors.New("usage")

// run is the command, but for the process around it.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	name := "openamq"
	if len(args) > 0 && len(args[0]) > 0 && args[0][0] != '-' {
		name, args = args[0], args[1:]
	} else if len(args) > 0 && isHelp(args[0]) {
		overview(out)
		return 0
	}
	if name == "help" {
		if len(args) == 0 {
			overview(out)
			return 0
		}
		name, args = args[0], []string{"-h"}
	}
	c, ok := commandNamed(name)
	if !ok {
		fmt.Fprintf(log, "perf: there is no %q; perf -h says what there is\n", name)
		return exitUsage
	}
	err := c.run(ctx, &environment{command: c, args: args, out: out, log: log})
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintf(log, "perf: interrupted\n")
		return exitInterrupted
	default:
		fmt.Fprintf(log, "perf: %v\n", err)
		return exitFailed
	}
}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }
