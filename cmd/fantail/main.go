// Command fantail is a Fantail server, and the tools to publish to one, to watch it, and to
// see whether a machine is ready for it. Type fantail help.
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
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(os.Stderr, "fantail: second signal: ended at once")
		os.Exit(exitFailed)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// errUsage says that what is wrong with the command line has been printed.
var errUsage = errors.New("usage")

// run is the command, but for the process around it. ctx is done at the first signal.
func run(ctx context.Context, args []string, in io.Reader, out, log io.Writer) int {
	if len(args) == 0 {
		overview(log)
		return exitUsage
	}
	name, args := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help", "help":
		if len(args) == 0 {
			overview(out)
			return exitOK
		}
		name, args = args[0], []string{"-h"}
	case "--version", "-version":
		name = "version"
	}
	c, ok := commandNamed(name)
	if !ok {
		fmt.Fprintf(log, "fantail: there is no command %q; fantail help lists those there are\n",
			name)
		return exitUsage
	}
	err := c.run(ctx, &environment{command: c, args: args, in: in, out: out, log: log})
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		return exitUsage
	}
	fmt.Fprintf(log, "fantail %s: %v\n", c.name, err)
	return exitFailed
}
