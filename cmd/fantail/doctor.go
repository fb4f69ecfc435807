package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
)

func doctorCommand() command {
	return command{name: "doctor", summary: "say what this machine offers, and what is missing",
		run: runDoctor, operands: "[flags]",
		about: `
Looks at this machine as a server would, changes nothing, and prints a line for each thing that
matters: "ok", or "warn" with what to do about it. Warnings are advice: a server runs without.`,
		examples: []string{"fantail doctor", "fantail doctor | grep warn"}}
}

// finding is one line of the doctor's.
type finding struct {
	what, found string
	advice      string // empty: all is well
}

func runDoctor(_ context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	if operands, err := e.parse(fs); err != nil {
		return err
	} else if len(operands) > 0 {
		return e.usage("%q is too much", operands[0])
	}
	warnings := 0
	for _, f := range append(common(), examine()...) {
		verdict := "ok  "
		if f.advice != "" {
			verdict = "warn"
			warnings++
		}
		fmt.Fprintf(e.out, "%s  %-14s %s\n", verdict, f.what, f.found)
		if f.advice != "" {
			for _, line := range wrap(f.advice, helpColumns-21) {
				fmt.Fprintf(e.out, "      %-14s %s\n", "", line)
			}
		}
	}
	e.say("%s", plural(uint64(warnings), "warning"))
	return nil
}

// common is what can be seen everywhere.
func common() []finding {
	cores, procs := runtime.NumCPU(), runtime.GOMAXPROCS(0)
	found := []finding{
		{what: "system", found: runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version()},
		{what: "cores", found: fmt.Sprintf("%d", cores)},
		{what: "GOMAXPROCS", found: fmt.Sprintf("%d", procs)},
	}
	if cores == 1 {
		found[1].advice = "a shard, publishers and the kernel's network share one core: use " +
			"--wait adaptive or park, never busy"
	}
	switch {
	case procs == 1 && cores > 1:
		found[2].advice = "Go runs on one core here, because GOMAXPROCS or a CPU limit of the " +
			"container says so: allow at least 2"
	case procs < cores:
		found[2].found += fmt.Sprintf(" of %d: GOMAXPROCS or a CPU limit says so", cores)
	}
	return found
}
