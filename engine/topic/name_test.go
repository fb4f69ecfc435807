package topic

import (
	"errors"
	"strings"
	"testing"
)

// refused is attack A26: names that would be cut short, hide, or mean something else later.
var refused = map[string]string{
	"empty":             "",
	"65,535 bytes":      strings.Repeat("a", 65_535),
	"256 bytes":         strings.Repeat("a", 256),
	"33 tokens":         strings.Repeat("a.", 32) + "a",
	"NUL":               "a\x00b",
	"newline":           "a\nb",
	"carriage return":   "a\rb",
	"tab":               "a\tb",
	"escape":            "a\x1b[2Jb",
	"delete":            "a\x7fb",
	"space":             "a b",
	"parent directory":  "../etc/passwd",
	"only dots":         "..",
	"one dot":           ".",
	"leading dot":       ".a",
	"trailing dot":      "a.",
	"empty token":       "a..b",
	"backslash":         `a\b`,
	"percent encoding":  "%2e%2e",
	"quotes":            `a"b`,
	"apostrophe":        "a'b",
	"angle":             "a<b",
	"shell":             "a;b|c&d`e",
	"latin-1":           "caf\xe9",
	"UTF-8":             "café",
	"overlong slash":    "a\xc0\xafb",
	"overlong NUL":      "a\xc0\x80b",
	"surrogate":         "a\xed\xa0\x80b",
	"bidi override":     "a\u202eb",
	"zero width":        "a\u200bb",
	"byte order mark":   "\ufeffa",
	"fullwidth stop":    "a\uff0eb",
	"truncated UTF-8":   "a\xe2\x80",
	"DEL to 0xff":       "\xff",
	"nothing but space": " ",
}

func TestNamesOfAttackersAreRefused(t *testing.T) {
	r := NewRegistry(0)
	for what, name := range refused {
		var e *NameError
		if err := CheckName(name); !errors.As(err, &e) || !errors.Is(err, ErrName) {
			t.Errorf("%s: CheckName answers %v", what, err)
			continue
		}
		checkText(t, e)
		if _, err := r.Intern(name); !errors.Is(err, ErrName) {
			t.Errorf("%s: Intern answers %v", what, err)
		}
		if _, err := ParsePattern(name); !errors.Is(err, ErrName) {
			t.Errorf("%s: ParsePattern answers %v", what, err)
		}
		if number, ok := r.Lookup(name); ok || number != 0 {
			t.Errorf("%s: Lookup finds %d", what, number)
		}
	}
	if r.Len() != 0 {
		t.Errorf("%d bad names were kept", r.Len())
	}
}

// checkText checks that an error may be logged and sent as it is.
func checkText(t *testing.T, e *NameError) {
	t.Helper()
	text := e.Error()
	if len(text) > 512 {
		t.Errorf("the error for %s has %d bytes", e.Name, len(text))
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			t.Errorf("the error for %s has byte 0x%02x", e.Name, text[i])
			return
		}
	}
}

func TestNamesEveryByteIsDecided(t *testing.T) {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/:+@#$=~!"
	for c := range 256 {
		name := string([]byte{'a', byte(c), 'b'})
		want := c == '.' || strings.IndexByte(allowed, byte(c)) >= 0
		if err := CheckName(name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestNamesAtTheLimits(t *testing.T) {
	for _, name := range []string{"a", "md.equities.AAPL", "ORDERS/eu:1+2@#$=~!-_",
		strings.Repeat("a", MaxNameBytes), strings.Repeat("a.", MaxTokens-1) + "a"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
		if p, err := ParsePattern(name); err != nil || !p.IsLiteral() || p.String() != name {
			t.Errorf("pattern %q: %v, %v", name, p, err)
		}
	}
}

func TestNamesErrorSaysWhereAndWhy(t *testing.T) {
	for _, c := range []struct {
		pattern   bool
		name, say string
	}{
		{false, "a..b", `topic: bad name "a..b": empty token at offset 2`},
		{false, "a.*", `topic: bad name "a.*": * at offset 2 is for patterns only`},
		{false, ">", `topic: bad name ">": > at offset 0 is for patterns only`},
		{false, "a\u202eb", `topic: bad name "a\u202eb": byte 0xe2 at offset 1 is not allowed`},
		{true, "a*.b", `topic: bad name "a*.b": * at offset 1 is not alone in its token`},
		{true, "a.>b", `topic: bad name "a.>b": > at offset 2 is not alone in its token`},
		{true, "**", `topic: bad name "**": * at offset 0 is not alone in its token`},
		{true, "a.>.b", `topic: bad name "a.>.b": > at offset 2 is not the last token`},
		{true, "a.>.", `topic: bad name "a.>.": > at offset 2 is not the last token`},
		{true, "a.*.", `topic: bad name "a.*.": empty token at offset 4`},
	} {
		_, err := check(c.name, c.pattern)
		if err == nil || err.Error() != c.say {
			t.Errorf("%q: %v\nwant %s", c.name, err, c.say)
		}
	}
}
