package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pkg/profile"
)

// profiling is which profile is taken, and where to.
type profiling struct {
	kind   string
	folder string
}

func (p *profiling) register(fs *flag.FlagSet) {
	fs.StringVar(&p.kind, "profile", "", "KIND|take a profile: "+
		strings.Join(profileKinds(), ", "))
	fs.StringVar(&p.folder, "profile-dir", "", "FOLDER|where profiles go; the server's own is "+
		"there, and each child's in a folder of it; empty: perf-COMMAND-KIND")
}

// kinds are the profiles on offer: how pkg/profile takes them, the file that it writes, and
// what to look at it with.
var kinds = []struct {
	name  string
	modes []func(*profile.Profile)
	file  string
	tool  string
}{
	{"cpu", []func(*profile.Profile){profile.CPUProfile}, "cpu.pprof", "pprof"},
	{"mem", []func(*profile.Profile){profile.MemProfile}, "mem.pprof", "pprof"},
	{"allocs", []func(*profile.Profile){profile.MemProfileAllocs, profile.MemProfileRate(1)},
		"mem.pprof", "pprof -sample_index=alloc_objects"},
	{"mutex", []func(*profile.Profile){profile.MutexProfile}, "mutex.pprof", "pprof"},
	{"block", []func(*profile.Profile){profile.BlockProfile}, "block.pprof", "pprof"},
	{"goroutine", []func(*profile.Profile){profile.GoroutineProfile}, "goroutine.pprof",
		"pprof"},
	{"trace", []func(*profile.Profile){profile.TraceProfile}, "trace.out", "trace"},
	{"clock", []func(*profile.Profile){profile.ClockProfile}, "clock.pprof", "pprof"},
}

func profileKinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// start begins the profile, where there is to be one; end finishes it.
func (p *profiling) start() (end func(), err error) {
	if p.kind == "" {
		return func() {}, nil
	}
	i := slices.Index(profileKinds(), p.kind)
	if i < 0 {
		return nil, fmt.Errorf("no profile is called %q; there are %s", p.kind,
			strings.Join(profileKinds(), ", "))
	}
	// pkg/profile ends the process where it cannot write, so it is tried here.
	if err := os.MkdirAll(p.folder, 0o777); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	f, err := os.Create(filepath.Join(p.folder, kinds[i].file))
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	f.Close()
	modes := append(slices.Clone(kinds[i].modes), profile.ProfilePath(p.folder), profile.Quiet,
		profile.NoShutdownHook)
	started := profile.Start(modes...)
	return func() {
		if kinds[i].file == "mem.pprof" {
			runtime.GC() // the profile is as of the last collection but one
			runtime.GC()
		}
		started.Stop()
	}, nil
}

// childArgs are what a child's command line gets, so that it takes the same profile.
func (p *profiling) childArgs(job string, number int) []string {
	if p.kind == "" {
		return nil
	}
	return []string{"--profile", p.kind, "--profile-dir",
		filepath.Join(p.folder, fmt.Sprintf("%s-%d", job, number))}
}

// hints are the lines to type next: one for each profile that there is.
func (p *profiling) hints() []string {
	if p.kind == "" {
		return nil
	}
	k := kinds[slices.Index(profileKinds(), p.kind)]
	var lines []string
	add := func(path string) {
		tool := k.tool
		if tool != "trace" {
			tool += " -http=localhost:0"
		}
		lines = append(lines, fmt.Sprintf("go tool %s %s", tool, path))
	}
	add(filepath.Join(p.folder, k.file))
	children, err := filepath.Glob(filepath.Join(p.folder, "*", k.file))
	if err != nil {
		return lines // a folder whose name is a pattern: its own profile is there
	}
	for _, path := range children {
		add(path)
	}
	return lines
}
