package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// command is a subcommand.
type command struct {
	name    string
	summary string // in the overview
	// about, examples and operands are what -h says.
	about    string
	examples []string
	operands string
	run      func(ctx context.Context, e *environment) error
}

// environment is what a command works with.
type environment struct {
	command command
	args    []string
	out     io.Writer
	log     io.Writer
}

// parse reads the command line into fs, and answers the operands. It prints what is wrong,
// and help where that is asked for.
func (e *environment) parse(fs *flag.FlagSet) ([]string, error) {
	fs.SetOutput(e.log)
	asked := false
	fs.Usage = func() { asked = true }
	// Flags and operands in any order: what follows an operand is parsed again.
	var operands []string
	args := e.args
	for {
		fs.SetOutput(io.Discard) // the error is printed below, once
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			e.help(fs)
			return nil, flag.ErrHelp
		}
		if err != nil || asked {
			fmt.Fprintf(e.log, "perf %s: %v; perf %s -h says what there is\n", e.command.name,
				err, e.command.name)
			return nil, errUsage
		}
		if fs.NArg() == 0 {
			break
		}
		operands = append(operands, fs.Arg(0))
		args = fs.Args()[1:]
	}
	return operands, nil
}

// usage prints why a command line is wrong.
func (e *environment) usage(format string, args ...any) error {
	fmt.Fprintf(e.log, "perf %s: %s\n", e.command.name, fmt.Sprintf(format, args...))
	return errUsage
}

// help prints what a command is, its examples and its flags.
func (e *environment) help(fs *flag.FlagSet) {
	c := &e.command
	operands := "[flags]"
	if c.operands != "" {
		operands += " " + c.operands
	}
	fmt.Fprintf(e.out, "perf %s %s\n\n%s\n", c.name, operands, strings.TrimSpace(c.about))
	if len(c.examples) > 0 {
		fmt.Fprint(e.out, "\nExamples:\n")
		for _, x := range c.examples {
			fmt.Fprintf(e.out, "  %s\n", x)
		}
	}
	var names, texts []string
	width := 0
	fs.VisitAll(func(f *flag.Flag) {
		value, text, _ := strings.Cut(f.Usage, "|") // what the flag takes, and what it is
		name := "--" + f.Name
		if len(f.Name) == 1 {
			name = "-" + f.Name
		}
		if value != "" {
			name += " " + value
		}
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
			text += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		names, texts = append(names, name), append(texts, text)
		width = max(width, len(name))
	})
	if len(names) > 0 {
		fmt.Fprint(e.out, "\nFlags:\n")
	}
	for i, name := range names {
		lines := wrap(texts[i], 96-width)
		fmt.Fprintf(e.out, "  %-*s  %s\n", width, name, lines[0])
		for _, line := range lines[1:] {
			fmt.Fprintf(e.out, "  %-*s  %s\n", width, "", line)
		}
	}
}

// wrap breaks text into lines of at most so many bytes, at spaces.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

func commandNamed(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// overview prints what there is.
func overview(w io.Writer) {
	fmt.Fprint(w, `perf measures Fantail.

  perf [command] [flags]      without a command: openamq
  perf COMMAND -h             what a command measures, and its flags

Commands:
`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-16s  %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, `
Every measurement takes
  --json FILE       all figures, in stable names (docs/perf/json.md)
  --report FILE     where its HTML page with plots goes; the page needs no network
  --gobench FILE    Go's benchmark format, for benchstat
  --profile KIND    cpu, mem, allocs, mutex, block, goroutine, trace or clock

On a shared machine compare ratios: the share of the ceiling, not deliveries a second.
docs/perf/README.md says what each command measures and how to read its figures.
`)
}
