package native

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/ring/frame"
)

const specification = "../../../docs/protocol/native.md"

// blocks answers the fenced blocks of the specification that are marked as a frame:
//
//	```frame hello
//	30 00 00 00 …   # a comment
//	```
func blocks(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(specification)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string][]byte)
	name := ""
	for i, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "```"); ok {
			name, ok = strings.CutPrefix(rest, "frame ")
			if !ok {
				name = ""
			} else if _, twice := found[name]; twice {
				t.Errorf("line %d: a second block %q", i+1, name)
			}
			continue
		}
		if name == "" {
			continue
		}
		digits, _, _ := strings.Cut(line, "#")
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		found[name] = append(found[name], b...)
	}
	return found
}

// The bytes in the specification are those of the values it says they are.
func TestSpecificationExamples(t *testing.T) {
	found := blocks(t)
	for _, e := range examples {
		b, ok := found[e.name]
		if !ok {
			t.Errorf("no example %q in %s", e.name, specification)
			continue
		}
		delete(found, e.name)
		if want := appendAny(nil, e.value); !bytes.Equal(b, want) {
			t.Errorf("%s:\ndocs\n%swant\n%s", e.name, hex.Dump(b), hex.Dump(want))
		}
		h, body, n, err := frame.Parse(b, frame.MaxBytes)
		if err != nil || n != len(b) {
			t.Errorf("%s: %d of %d bytes, %v", e.name, n, len(b), err)
			continue
		}
		v, err := parse(h, body)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		if again := appendAny(nil, v); !bytes.Equal(again, b) {
			t.Errorf("%s: appended again\n%s", e.name, hex.Dump(again))
		}
	}
	for name := range found {
		t.Errorf("%s has an example %q that this test does not know", specification, name)
	}
}

// The specification lists every kind, code and limit with its number.
func TestSpecificationTables(t *testing.T) {
	raw, err := os.ReadFile(specification)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for k := frame.Data; k <= frame.Welcome; k++ {
		if row := fmt.Sprintf("| %d | %s |", k, KindName(k)); !strings.Contains(text, row) {
			t.Errorf("no row %q", row)
		}
	}
	for c := range codeNames {
		if row := fmt.Sprintf("| %d | %s |", c, Code(c)); !strings.Contains(text, row) {
			t.Errorf("no row %q", row)
		}
	}
	for name, limit := range map[string]int{"token": MaxTokenBytes, "name": MaxNameBytes,
		"topic": MaxTopicBytes, "pattern": MaxPatternBytes, "ERROR text": MaxTextBytes,
		"handshake frame": MaxHandshakeBytes} {
		if row := fmt.Sprintf("| %s | %d |", name, limit); !strings.Contains(text, row) {
			t.Errorf("no row %q", row)
		}
	}
	if want := strconv.Quote(Magic); !strings.Contains(text, want) {
		t.Errorf("no magic %s", want)
	}
}
