package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const peersAbout = `
Runs the same workloads on Fantail and on its peers in one run, alternating, and prints the
ratios. The program for that is a Go module of its own, perf/peers, so that whoever embeds
Fantail does not inherit nats-server; "go" builds it when it is first run. Every argument is
its own: perf peers -- -h prints its help.

NATS needs nothing else. Redis wants redis-server, ZeroMQ a C compiler and libzmq; where one
is missing the program says what to install, and goes on with the others.`

// peersFolder is where the module is, in the source tree.
const peersFolder = "perf/peers"

// runPeers hands over to the program of perf/peers.
func runPeers(ctx context.Context, e *environment) error {
	args := e.args
	if len(args) > 0 && isHelp(args[0]) {
		fmt.Fprintf(e.out, "perf peers [arguments of perf/peers]\n%s\n\n", peersAbout)
		return nil
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	folder, err := findPeers()
	if err != nil {
		return err
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		return fmt.Errorf("peers are built when they are run, and there is no go command: "+
			"install Go, or build %s elsewhere and run that program", folder)
	}
	binary, clean, err := buildPeers(ctx, e, tool, folder)
	if err != nil {
		return err
	}
	defer clean()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, e.out, e.log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		return fmt.Errorf("peers: %w", err)
	} else if err != nil {
		return err
	}
	return nil
}

// findPeers looks for the module from the current folder upwards.
func findPeers() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		folder := filepath.Join(dir, filepath.FromSlash(peersFolder))
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("there is no %s here or above: peers run from Fantail's "+
				"source tree", peersFolder)
		}
	}
}

// buildPeers builds the program into a folder that clean removes.
func buildPeers(ctx context.Context, e *environment, tool, folder string) (binary string,
	clean func(), err error) {
	temp, err := os.MkdirTemp("", "fantail-perf-")
	if err != nil {
		return "", nil, err
	}
	clean = func() { os.RemoveAll(temp) }
	binary = filepath.Join(temp, "peers")
	build := exec.CommandContext(ctx, tool, "build", "-o", binary, ".")
	build.Dir = folder
	build.Stdout, build.Stderr = e.log, e.log
	if err := build.Run(); err != nil {
		clean()
		return "", nil, fmt.Errorf("building %s: %w (it needs the modules of its go.mod, from "+
			"the network or the cache)", folder, err)
	}
	return binary, clean, nil
}
