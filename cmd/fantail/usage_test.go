package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write testdata and generated documentation anew")

func TestHelp(t *testing.T) {
	cases := [][]string{{"help"}}
	for _, c := range commands() {
		cases = append(cases, []string{c.name, "-h"})
	}
	for _, args := range cases {
		code, out, log := fantail(t, "", args...)
		if code != 0 || log != "" {
			t.Errorf("%v: exit code %d: %s", args, code, log)
		}
		golden(t, filepath.Join("testdata", "help-"+args[0]+".txt"), out)
		for line := range strings.Lines(out) {
			if len([]rune(line)) > 101 {
				t.Errorf("%v: a long line: %s", args, line)
			}
		}
	}
}

// golden compares got with a file, or writes it with -rewrite.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has changed; go test -run %s -rewrite ./cmd/fantail accepts it:\n%s", file,
			t.Name(), got)
	}
}

func TestHelpComesInManyWays(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"help", "pub"}, {"pub", "--help"}} {
		if code, out, _ := fantail(t, "", args...); code != 0 || !strings.HasPrefix(out, "fantail ") {
			t.Errorf("%v: exit code %d: %s", args, code, out)
		}
	}
}

func TestBadCommandLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"", "fantail COMMAND"},
		{"subscribe x", `no command "subscribe"`},
		{"help nothing", `no command "nothing"`},
		{"serve --lisen x", "-lisen"},
		{"serve now", `"now" is too much`},
		{"serve --stream lots", "such as 64MiB"},
		{"serve --stream -1", "such as 64MiB"},
		{"serve --cpus 3-1", "counting from 0"},
		{"serve --wait never", "adaptive, busy, yield or park"},
		{"serve --policy drop", "drop-oldest:65536"},
		{"serve --policy default", "drop-oldest:65536"},
		{"serve --policy wait:3", "takes no number"},
		{"serve --policy wait-for", "wait-for:50ms"},
		{"serve --policy wait-for:1us", "outside 1ms to 1h"},
		{"serve --policy drop-oldest:0", "drop-oldest:65536"},
		{"serve --policy drop-oldest:4000000000", "over the limit"},
		{"serve --policy spill", "journal"},
		{"serve --stats -1s", "times"},
		{"serve --debug-anywhere", "--debug-addr"},
		{"pub", "which TOPIC"},
		{"pub md.> x", "topic"},
		{"pub a b --size 3", "either a PAYLOAD or --size"},
		{"pub a --count 3", "--count needs"},
		{"pub a b --rate -1", "--rate"},
		{"pub a b --rate NaN", "--rate"},
		{"sub", "which PATTERN"},
		{"sub a b", "in quotes"},
		{"sub a --format xml", "text, raw, json or none"},
		{"doctor me", "too much"},
		{"version 2", "too much"},
	} {
		code, out, log := fantail(t, "", strings.Fields(c.line)...)
		if code != exitUsage || !strings.Contains(log, c.want) || out != "" {
			t.Errorf("%q: exit code %d, %q, want %q", c.line, code, log, c.want)
		}
	}
}

func TestAPatternThatTheServerRefuses(t *testing.T) {
	_, address := serve(t)
	code, _, log := fantail(t, "", "sub", "a..b", "--server", address)
	if code != exitUsage || !strings.Contains(log, "empty token") {
		t.Errorf("exit code %d: %s", code, log)
	}
}

// Flags may stand behind operands, and payloads may begin with a dash.
func TestFlagsAndOperandsInAnyOrder(t *testing.T) {
	_, address := serve(t)
	s := subscribe(t, address, "--count", "2", "in", "--format", "raw")
	publish(t, address, "in", "--", "-5", "--count")
	if code := s.wait(); code != 0 || s.out.text() != "-5\n--count\n" {
		t.Errorf("exit code %d: %q", code, s.out.text())
	}
}

func TestDoctorAndVersion(t *testing.T) {
	code, out, _ := fantail(t, "", "doctor")
	if code != 0 || !strings.Contains(out, "GOMAXPROCS") {
		t.Errorf("doctor: exit code %d: %s", code, out)
	}
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "ok ") && !strings.HasPrefix(line, "warn ") &&
			!strings.HasPrefix(line, "     ") {
			t.Errorf("doctor says %q", line)
		}
	}
	code, out, _ = fantail(t, "", "version")
	if code != 0 || !strings.Contains(out, "native protocol 1, go1.") {
		t.Errorf("version: exit code %d: %s", code, out)
	}
}
