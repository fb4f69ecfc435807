package ringtest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	// settleTimeout is how long goroutines and descriptors may take to go away.
	settleTimeout = 2 * time.Second
	// settleTurns is how often Main looks before it starts to wait between looks.
	settleTurns = 20
)

// Main is a package's TestMain:
//
//	func TestMain(m *testing.M) { ringtest.Main(m) }
//
// It runs the tests and benchmarks and exits. Where they pass, but leave goroutines or, on
// Linux, file descriptors behind that are still there two seconds later, it lists those on
// standard error and exits with 1.
func Main(m *testing.M) {
	flag.Parse()
	before := takeInventory()
	code := m.Run()
	if code == 0 && !fuzzing() {
		if leaks := settle(before); len(leaks) > 0 {
			fmt.Fprintf(os.Stderr, "ringtest: the tests leaked:\n%s\n", strings.Join(leaks, "\n"))
			code = 1
		}
	}
	os.Exit(code)
}

// fuzzing reports whether package testing is fuzzing, with processes and pipes of its own.
func fuzzing() bool {
	for _, name := range []string{"test.fuzz", "test.fuzzworker"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != f.DefValue {
			return true
		}
	}
	return false
}

// inventory is what a process has open.
type inventory struct {
	goroutines map[string]string // stacks, by "goroutine 7"
	files      map[string]int    // descriptors, by what they lead to
}

func takeInventory() inventory {
	startPoller()
	return inventory{goroutines: goroutines(), files: files()}
}

// startPoller makes the runtime open its own descriptors.
func startPoller() {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	r.Close()
	w.Close()
}

// settle waits until nothing is left but what was there before, and answers what is.
func settle(before inventory) (leaks []string) {
	deadline := time.Now().Add(settleTimeout)
	for turn := 0; ; turn++ {
		leaks = before.missing(inventory{goroutines: goroutines(), files: files()})
		if len(leaks) == 0 || time.Now().After(deadline) {
			return leaks
		}
		if turn < settleTurns {
			runtime.Gosched()
			continue
		}
		<-time.After(10 * time.Millisecond)
	}
}

// missing lists what is in now and not in before.
func (before inventory) missing(now inventory) (leaks []string) {
	for id, stack := range now.goroutines {
		if _, known := before.goroutines[id]; !known {
			leaks = append(leaks, stack)
		}
	}
	for target, count := range now.files {
		if more := count - before.files[target]; more > 0 {
			leaks = append(leaks, fmt.Sprintf("descriptor of %s: %d more than before", target, more))
		}
	}
	slices.Sort(leaks)
	return leaks
}

// systemGoroutines are parts of stacks of goroutines that no test started.
var systemGoroutines = []string{
	"created by runtime.",
	"created by runtime/pprof.",
	"created by runtime/trace.",
	"created by os/signal.",
	"created by unique.",
	"created by testing.(*F).Fuzz",
	"created by testing.runFuzzing",
}

// goroutines are the stacks of all goroutines but this one and the system's.
func goroutines() map[string]string {
	buffer := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buffer, true)
		if n < len(buffer) {
			buffer = buffer[:n]
			break
		}
		buffer = make([]byte, 2*len(buffer))
	}
	all := make(map[string]string)
	for i, stack := range strings.Split(strings.TrimSpace(string(buffer)), "\n\n") {
		system := i == 0 // the caller comes first
		for _, part := range systemGoroutines {
			system = system || strings.Contains(stack, part)
		}
		if id, _, ok := strings.Cut(stack, " ["); ok && !system {
			all[id] = stack
		}
	}
	return all
}
