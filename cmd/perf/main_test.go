package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/perf/worker"
	"github.com/fantail-io/fantail/ring/ringtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == worker.Arg {
		os.Exit(child(os.Args[2], os.Args[3:]))
	}
	ringtest.Main(m)
}

func perfCommand(t *testing.T, args ...string) (code int, out, log string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"help"}, {"--help"}} {
		code, out, _ := perfCommand(t, args...)
		if code != 0 {
			t.Errorf("%v: exit %d", args, code)
		}
		for _, c := range commands() {
			if !strings.Contains(out, "  "+c.name+" ") {
				t.Errorf("%v does not name %s", args, c.name)
			}
		}
	}
	for _, c := range commands() {
		code, out, _ := perfCommand(t, c.name, "-h")
		if code != 0 || !strings.HasPrefix(out, "perf "+c.name) {
			t.Errorf("%s -h: exit %d, %.40q", c.name, code, out)
		}
		_, again, _ := perfCommand(t, "help", c.name)
		if again != out {
			t.Errorf("help %s differs from %s -h", c.name, c.name)
		}
		for line := range strings.Lines(out) {
			if len([]rune(line)) > 101 {
				t.Errorf("%s -h: a long line: %s", c.name, line)
			}
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{{"nothing"}, {"openamq", "--no-such-flag"}, {"-M", "many"},
		{"openamq", "extra"}, {"diff", "one.json"}, {"show"}, {"latency", "--subscribers", "x"},
		{"openamq", "--policy", "hope"}} {
		code, out, log := perfCommand(t, args...)
		if code != exitUsage || out != "" || !strings.HasPrefix(log, "perf") {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, log)
		}
	}
	for _, args := range [][]string{{"diff", "no.json", "no.json"}, {"-S", "1000000"},
		{"openamq", "--profile", "mood"}, {"topic_publish", "--token-file", "none"}} {
		if code, _, log := perfCommand(t, args...); code != exitFailed || log == "" {
			t.Errorf("%v: exit %d, %q", args, code, log)
		}
	}
}

func TestOpenAMQEndsInEveryKindOfReport(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	code, out, log := perfCommand(t, "-S", "2", "-z", "64", "-M", "1000", "--rounds", "1",
		"--ceiling", "20ms", "--json", file("a.json"), "--report", file("a.html"),
		"--gobench", file("a.txt"), "--profile", "cpu", "--profile-dir", file("profile"))
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, out, log)
	}
	for _, want := range []string{"delivered/s", "2 subscribers × 64 B", "go tool pprof",
		"subscribe-1"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	b, err := os.ReadFile(file("a.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(b, &r); err != nil || r.Lost != 0 || r.Deliveries != 2000 {
		t.Errorf("JSON: %v, %d lost, %d deliveries", err, r.Lost, r.Deliveries)
	}
	for _, name := range []string{"a.html", "a.txt", "profile/cpu.pprof",
		"profile/subscribe-1/cpu.pprof"} {
		if st, err := os.Stat(file(name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	code, out, log = perfCommand(t, "diff", file("a.json"), file("a.json"), "--fail")
	if code != 0 || !strings.Contains(out, "=") {
		t.Errorf("diff: exit %d\n%s\n%s", code, out, log)
	}
	code, out, _ = perfCommand(t, "show", file("a.json"))
	if code != 0 || !strings.Contains(out, "2 subscribers × 64 B") {
		t.Errorf("show: exit %d\n%s", code, out)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, log bytes.Buffer
	if code := run(ctx, []string{"-S", "1"}, &out, &log); code != exitInterrupted {
		t.Errorf("exit %d: %s", code, log.String())
	}
}
