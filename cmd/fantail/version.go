package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/fantail-io/fantail/netio/wire/native"
)

func versionCommand() command {
	return command{name: "version", summary: "say which version this is", run: runVersion,
		about: "Says what the program was built from, with which Go, and the protocol it speaks."}
}

func runVersion(_ context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	if operands, err := e.parse(fs); err != nil {
		return err
	} else if len(operands) > 0 {
		return e.usage("%q is too much", operands[0])
	}
	fmt.Fprintf(e.out, "fantail %s, native protocol %d, %s %s/%s\n", builtFrom(), native.Version,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// builtFrom is the module's version, and the commit where that is known.
func builtFrom() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	version, commit, changes := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = " with changes"
		}
	}
	if version == "" {
		version = "(devel)"
	}
	if commit != "" {
		version += " (commit " + commit + changes + ")"
	}
	return version
}
