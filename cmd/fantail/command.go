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
	// operands, about and examples are what -h says.
	operands string
	about    string
	examples []string
	run      func(ctx context.Context, e *environment) error
}

// commands are in the order in which a newcomer meets them.
func commands() []command {
	return []command{serveCommand(), pubCommand(), subCommand(), doctorCommand(),
		versionCommand()}
}

func commandNamed(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// environment is what a command works with.
type environment struct {
	command command
	args    []string
	in      io.Reader
	out     io.Writer // what was asked for
	log     io.Writer // what else there is to say
}

// say prints a line about the command's work.
func (e *environment) say(format string, args ...any) {
	fmt.Fprintf(e.log, "fantail: "+format+"\n", args...)
}

// usage prints why a command line is wrong.
func (e *environment) usage(format string, args ...any) error {
	fmt.Fprintf(e.log, "fantail %s: %s; fantail %s -h explains\n", e.command.name,
		fmt.Sprintf(format, args...), e.command.name)
	return errUsage
}

// parse reads the command line into fs, and answers the operands. Flags and operands may
// come in any order; what follows -- is operands.
func (e *environment) parse(fs *flag.FlagSet) (operands []string, err error) {
	fs.SetOutput(io.Discard) // errors are printed below, once
	fs.Usage = func() {}
	for args := e.args; ; {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			e.help(fs)
			return nil, flag.ErrHelp
		}
		if err != nil {
			return nil, e.usage("%v", err)
		}
		rest := fs.Args()
		if taken := len(args) - len(rest); taken > 0 && args[taken-1] == "--" {
			return append(operands, rest...), nil
		}
		if len(rest) == 0 {
			return operands, nil
		}
		operands, args = append(operands, rest[0]), rest[1:]
	}
}

// given reports whether the command line has that flag.
func given(fs *flag.FlagSet, name string) (found bool) {
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// helpColumns is how wide help is.
const helpColumns = 96

// help prints what a command does, its examples and its flags.
func (e *environment) help(fs *flag.FlagSet) {
	c := &e.command
	fmt.Fprintf(e.out, "%s\n\n%s\n", strings.TrimSpace("fantail "+c.name+" "+c.operands),
		strings.TrimSpace(c.about))
	if len(c.examples) > 0 {
		fmt.Fprintf(e.out, "\nExamples:\n  %s\n", strings.Join(c.examples, "\n  "))
	}
	var names, texts []string
	width := 0
	fs.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + value)
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "false" {
			text += " (default " + f.DefValue + ")"
		}
		names, texts = append(names, name), append(texts, text)
		width = max(width, len(name))
	})
	if len(names) > 0 {
		fmt.Fprint(e.out, "\nFlags:\n")
	}
	for i, name := range names {
		for _, line := range wrap(texts[i], helpColumns-4-width) {
			fmt.Fprintf(e.out, "  %-*s  %s\n", width, name, line)
			name = ""
		}
	}
}

// wrap breaks text into lines of at most so many bytes, at spaces.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// overview prints what there is.
func overview(w io.Writer) {
	fmt.Fprint(w, `fantail publishes a message once and delivers it to many subscribers.

  fantail COMMAND [flags]     do it
  fantail COMMAND -h          what a command does, examples, and its flags

Commands:
`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s  %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, `
In three terminals:
  fantail serve
  fantail sub 'md.>'
  fantail pub md.AAPL '190.25 x 300'

Exit codes: 0 done, 1 it did not work, 2 the command line is wrong.
docs/operating has the rest: limits, slow consumers, counters, security, troubleshooting.
`)
}
