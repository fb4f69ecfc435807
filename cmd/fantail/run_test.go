package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServePubSub(t *testing.T) {
	_, address := serve(t)
	s := subscribe(t, address, "md.>", "--count", "3", "--format", "raw")
	log := publish(t, address, "md.AAPL", "one", "two", "three")
	if code, out := s.wait(), s.out.text(); code != 0 || out != "one\ntwo\nthree\n" {
		t.Errorf("sub: exit code %d, output %q", code, out)
	}
	if !strings.Contains(log, "published 3 messages (11 B) on md.AAPL") {
		t.Errorf("pub says %q", log)
	}
	if log := s.log.text(); !strings.Contains(log, "received 3 messages (11 B)") ||
		!strings.Contains(log, "0 gaps, 0 missed; 0 reconnects") {
		t.Errorf("sub says %q", log)
	}
}

func TestPatternsSelect(t *testing.T) {
	_, address := serve(t)
	s := subscribe(t, address, "md.*.AAPL", "--count", "1", "--format", "raw")
	publish(t, address, "md.AAPL", "not this")
	publish(t, address, "md.equities.AAPL", "this")
	if code, out := s.wait(), s.out.text(); code != 0 || out != "this\n" {
		t.Errorf("exit code %d, output %q", code, out)
	}
}

func TestFormats(t *testing.T) {
	_, address := serve(t)
	text := subscribe(t, address, "md.>", "--count", "2")
	objects := subscribe(t, address, "md.>", "--count", "2", "--format", "json")
	none := subscribe(t, address, "md.>", "--count", "2", "--format", "none")
	publish(t, address, "md.AAPL", "esc \x1b[31m \"é\" \\", "\xff")
	for _, p := range []*process{text, objects, none} {
		if code := p.wait(); code != 0 {
			t.Fatalf("exit code %d", code)
		}
	}
	lines := strings.Split(text.out.text(), "\n")
	if !strings.HasPrefix(lines[0], "md.AAPL 1 20") ||
		!strings.HasSuffix(lines[0], `Z esc \x1b[31m "é" \\`) ||
		!strings.HasSuffix(lines[1], `Z \xff`) {
		t.Errorf("text: %q", lines)
	}
	if out := none.out.text(); out != "" {
		t.Errorf("none: %q", out)
	}
	dec := json.NewDecoder(strings.NewReader(objects.out.text()))
	var first, second messageJSON
	if err := dec.Decode(&first); err != nil {
		t.Fatal(err)
	}
	if err := dec.Decode(&second); err != nil {
		t.Fatal(err)
	}
	if first.Topic != "md.AAPL" || first.Sequence != 1 || first.Payload == nil ||
		*first.Payload != "esc \x1b[31m \"é\" \\" {
		t.Errorf("json: %+v", first)
	}
	if second.Payload != nil || second.Base64 == nil || *second.Base64 != "/w==" {
		t.Errorf("json of what is not UTF-8: %+v", second)
	}
}

func TestPubReadsLines(t *testing.T) {
	_, address := serve(t)
	long := strings.Repeat("x", 200_000) // longer than a chunk
	s := subscribe(t, address, "in", "--count", "4", "--format", "raw")
	code, _, log := fantail(t, "a\nb\r\n"+long+"\nlast", "pub", "in", "--server", address)
	if code != 0 || !strings.Contains(log, "published 4 messages") {
		t.Fatalf("pub: exit code %d: %s", code, log)
	}
	if code, out := s.wait(), s.out.text(); code != 0 || out != "a\nb\n"+long+"\nlast\n" {
		t.Errorf("sub: exit code %d, %d bytes", code, len(out))
	}
}

func TestPubMakesUpMessages(t *testing.T) {
	_, address := serve(t)
	s := subscribe(t, address, "load", "--count", "3", "--format", "raw")
	publish(t, address, "load", "--size", "4", "--count", "3", "--rate", "1000")
	if code, out := s.wait(), s.out.text(); code != 0 || out != "1...\n2...\n3...\n" {
		t.Errorf("exit code %d, output %q", code, out)
	}
}

func TestPubSaysWhatIsTooLong(t *testing.T) {
	_, address := serve(t, "--block", "64KiB")
	code, _, log := fantail(t, "short\n"+strings.Repeat("x", 70_000)+"\n", "pub", "in", "--server",
		address)
	if code != exitFailed || !strings.Contains(log, "line 2 is longer than the server's limit") ||
		!strings.Contains(log, "published 1 message ") {
		t.Errorf("exit code %d: %s", code, log)
	}
	code, _, log = fantail(t, "", "pub", "in", "--size", "70000", "--server", address)
	if code != exitFailed || !strings.Contains(log, "over the server's limit") {
		t.Errorf("exit code %d: %s", code, log)
	}
}

// Every message is either printed, or told of.
func TestGapsAreToldAndCounted(t *testing.T) {
	_, address := serve(t, "--stream", "4MiB")
	s := subscribe(t, address, "load.>", "--policy", "drop-oldest:100", "--format", "json")
	s.out.hold(true) // its output is not read, so that it becomes slow
	publish(t, address, "load.x", "--size", "50000", "--count", "3000")
	publish(t, address, "load.end", "the end")
	s.out.hold(false)
	s.out.find(t, "(the end)")
	gap := s.log.find(t, `GAP: (.*)`)
	if !strings.Contains(gap, "missed, in sequences") || !strings.Contains(gap, "(drop-oldest)") {
		t.Errorf("GAP: %s", gap)
	}
	var messages, missed uint64
	for line := range strings.Lines(s.out.text()) {
		var v struct {
			Topic string
			Gap   *struct{ Count uint64 }
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if v.Gap != nil {
			missed += v.Gap.Count
		} else {
			messages++
		}
	}
	if messages+missed != 3001 || missed == 0 {
		t.Errorf("%d messages and %d missed do not make 3001", messages, missed)
	}
}

func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("  s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, address := serve(t, "--token-file", file)
	if line := p.out.text(); !strings.Contains(line, ", token") {
		t.Errorf("serve says %q", line)
	}
	publish(t, address, "md.AAPL", "x", "--token-file", file)
	for _, args := range [][]string{{"pub", "md.AAPL", "x"}, {"sub", "md.>"}} {
		code, _, log := fantail(t, "", append(args, "--server", address)...)
		if code != exitFailed || !strings.Contains(log, "not authorised") ||
			!strings.Contains(log, "give the server's secret with --token-file") {
			t.Errorf("%v without a token: exit code %d: %s", args, code, log)
		}
	}
}

func TestTokenFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"empty": {" \n", "is empty"},
		"long":  {strings.Repeat("x", 257), "longer than 256 bytes"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, log := fantail(t, "", "serve", "--listen", "127.0.0.1:0", "--token-file", file)
		if code != exitFailed || !strings.Contains(log, c.want) {
			t.Errorf("%s: exit code %d: %s", name, code, log)
		}
	}
	code, _, log := fantail(t, "", "serve", "--token-file", filepath.Join(dir, "none"))
	if code != exitFailed || !strings.Contains(log, "the token file:") {
		t.Errorf("no file: exit code %d: %s", code, log)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	free.Close()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pub", "a", "b", "--server", nobody}, "fantail serve starts one"},
		{[]string{"sub", "a", "--server", nobody}, "fantail serve starts one"},
		{[]string{"serve", "--listen", taken.Addr().String()}, "port 0 takes a free one"},
		{[]string{"serve", "--stream", "1KiB"}, "StreamBytes"},
		{[]string{"serve", "--listen", "127.0.0.1:0", "--debug-addr", "0.0.0.0:0"},
			"--debug-anywhere"},
		{[]string{"serve", "--listen", "127.0.0.1:0", "--sender", "pigeon"}, "writev"},
	} {
		code, _, log := fantail(t, "", c.args...)
		if code != exitFailed || !strings.Contains(log, c.want) {
			t.Errorf("%v: exit code %d: %s", c.args, code, log)
		}
	}
}
