package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fantail-io/fantail/netio/client"
	"github.com/fantail-io/fantail/ring"
)

func TestByteSize(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "65536": 64 << 10, "64KiB": 64 << 10,
		"3MiB": 3 << 20, "1GiB": 1 << 30, "7B": 7, "1 MiB": 1 << 20} {
		var b byteSize
		if err := b.Set(text); err != nil || int(b) != want {
			t.Errorf("%s: %d, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "MiB", "64MB", "-1", "1.5GiB", "99999999999GiB"} {
		var b byteSize
		if err := b.Set(text); err == nil {
			t.Errorf("%q: %d", text, b)
		}
	}
	for want, b := range map[string]byteSize{"64MiB": 64 << 20, "1500B": 1500, "0": 0} {
		if got := b.String(); got != want {
			t.Errorf("%d: %s, want %s", int(b), got, want)
		}
	}
}

func TestPoliciesComeBackAsWritten(t *testing.T) {
	for _, text := range []string{"wait", "wait-for:50ms", "drop-oldest:65536", "drop-oldest",
		"drop-newest:7", "conflate", "disconnect:1000"} {
		var p policyValue
		if err := p.Set(text); err != nil || p.String() != text {
			t.Errorf("%s: %s, %v", text, p.String(), err)
		}
	}
}

func TestCPUList(t *testing.T) {
	var c cpuList
	if err := c.Set("2,4-6"); err != nil || c.String() != "2,4,5,6" {
		t.Errorf("%v, %v", c, err)
	}
	for _, text := range []string{"", "a", "1,", "-1", "3-2", "0-9999"} {
		if err := c.Set(text); err == nil {
			t.Errorf("%q: %v", text, c)
		}
	}
}

func TestWithPort(t *testing.T) {
	for address, want := range map[string]string{"h": "h:7400", "h:1": "h:1", ":1": ":1",
		"[::1]": "[::1]:7400", "[::1]:2": "[::1]:2", "::1": "[::1]:7400"} {
		if got := withPort(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	for want, got := range map[string]string{
		"0": countText(0), "999": countText(999), "1,000": countText(1000),
		"12,345,678": countText(12345678), "1 gap": plural(1, "gap"), "0 gaps": plural(0, "gap"),
		"0 B": bytesText(0), "64 MiB": bytesText(64 << 20), "1.50 KiB": bytesText(1536),
		"15.3 KiB": bytesText(15700), "153 KiB": bytesText(157000),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain \"text\" é€😀": "plain \"text\" é€😀", "a\tb\n\r": `a\tb\n\r`,
		"\x1b]0;x\x07": `\x1b]0;x\a`, `\`: `\\`, "\xe2\x82": `\xe2\x82`,
		"\u202e": `\u202e`, "\u0085": `\u0085`, "\x00\x7f": `\x00\x7f`,
	} {
		if got := string(appendEscaped(nil, []byte(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestGapTexts(t *testing.T) {
	for want, g := range map[string]client.Gap{
		"GAP: 13 messages missed, in sequences 17 to 29 (drop-oldest)": {First: 17, Last: 29,
			Count: 13, Reason: ring.GapDropOldest},
		"GAP: at most 1 message missed, in sequences 5 to 5 (reconnect)": {First: 5, Last: 5,
			Count: 1, Reason: ring.GapReconnect},
		"GAP: an unknown number of messages was missed (reconnect): the server has started " +
			"anew, and its sequences begin again": {Reason: ring.GapReconnect},
	} {
		if got := gapText(g); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestLinesHoweverTheyCome(t *testing.T) {
	const input = "one\r\n\n\rthree\r\r\nfour\n\nlast"
	want := []string{"one", "", "\rthree\r", "four", "", "last"}
	for name, in := range map[string]io.Reader{"whole": strings.NewReader(input),
		"bytes":    iotest.OneByteReader(strings.NewReader(input)),
		"half":     iotest.HalfReader(strings.NewReader(input)),
		"with EOF": iotest.DataErrReader(strings.NewReader(input))} {
		next := startLines(t.Context(), in, 100)
		var got []string
		for {
			line, err := next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestLinesHaveALimit(t *testing.T) {
	next := startLines(t.Context(), bytes.NewReader(make([]byte, 1<<20)), 1000)
	if line, err := next(); err == nil || !strings.Contains(err.Error(), "line 1 is longer") {
		t.Errorf("%d bytes, %v", len(line), err)
	}
	next = startLines(t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF), 1000)
	if _, err := next(); err == nil || !strings.Contains(err.Error(), "the input") {
		t.Errorf("%v", err)
	}
}
