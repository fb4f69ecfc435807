package ringtest

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// leak makes TestLeak leak; TestMainFindsLeaks runs this binary with it.
var leak = flag.String("leak", "", "what TestLeak leaks")

func TestMain(m *testing.M) { Main(m) }

// leaked keeps what TestLeak leaks from the collector, which would close it.
var leaked *os.File

func TestLeak(t *testing.T) {
	switch *leak {
	case "goroutine":
		started := make(chan bool)
		go leakGoroutine(started)
		<-started
	case "file":
		f, err := os.Open(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		leaked = f
	case "late":
		// Gone by itself soon after the tests.
		started := make(chan bool)
		go func() {
			started <- true
			for range 100 {
				goroutines()
			}
		}()
		<-started
	case "failure":
		t.Error("as told")
	}
}

func leakGoroutine(started chan bool) {
	started <- true
	select {}
}

func TestMainFindsLeaks(t *testing.T) {
	for what, say := range map[string]string{
		"":          "",
		"late":      "",
		"goroutine": "leakGoroutine",
		"file":      os.Args[0],
		"failure":   "as told",
	} {
		if what == "file" && files() == nil {
			continue
		}
		t.Run("leak="+what, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(os.Args[0], "-test.run=^TestLeak$", "-leak="+what).CombinedOutput()
			if say == "" {
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				return
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("it ends with %v, want exit status 1\n%s", err, out)
			}
			if !bytes.Contains(out, []byte(say)) {
				t.Errorf("it does not say %q\n%s", say, out)
			}
		})
	}
}

func TestSettleIsQuietWhereNothingLeaks(t *testing.T) {
	before := takeInventory()
	done := make(chan bool)
	go func() { done <- true }()
	<-done
	if leaks := settle(before); len(leaks) > 0 {
		t.Errorf("leaks: %s", strings.Join(leaks, "\n"))
	}
}

func TestSeed(t *testing.T) {
	given := *seedFlag
	defer func() { *seedFlag = given }()
	*seedFlag = 42
	if got := Seed(t); got != 42 {
		t.Errorf("-seed=42 gives %d", got)
	}
	*seedFlag = 0
	if a, b := Seed(t), Seed(t); a == b || a == 0 {
		t.Errorf("random seeds %d and %d", a, b)
	}
}
