package topic

import (
	"strings"
	"testing"
)

func TestPatternMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a.b", "a.b", true}, {"a.b", "a", false}, {"a.b", "a.b.c", false},
		{"a.b", "a.c", false}, {"a", "ab", false},
		{"*", "a", true}, {"*", "a.b", false}, {"*.b", "a.b", true}, {"*.b", "b", false},
		{"a.*", "a.b", true}, {"a.*", "a", false}, {"a.*", "a.b.c", false},
		{"a.*.c", "a.b.c", true}, {"a.*.c", "a.b.d", false}, {"*.*", "a.b", true},
		{">", "a", true}, {">", "a.b.c", true}, {">", "", false},
		{"a.>", "a.b", true}, {"a.>", "a.b.c", true}, {"a.>", "a", false}, {"a.>", "ab.c", false},
		{"a.*.b.>", "a.x.b.c", true}, {"a.*.b.>", "a.x.b", false}, {"a.*.b.>", "a.x.c.d", false},
		{"*.>", "a.b", true}, {"*.>", "a", false},
	} {
		p := mustParse(c.pattern)
		if got := p.Match(c.name); got != c.want {
			t.Errorf("%s matches %q: %v", c.pattern, c.name, got)
		}
		if p.IsLiteral() != !strings.ContainsAny(c.pattern, "*>") {
			t.Errorf("%s: literal is %v", c.pattern, p.IsLiteral())
		}
	}
	if (Pattern{}).Match("") || (Pattern{}).Match("a") {
		t.Error("the zero pattern matches something")
	}
}

func mustParse(s string) Pattern {
	p, err := ParsePattern(s)
	if err != nil {
		panic(err)
	}
	return p
}

// validReference is check, slowly.
func validReference(s string, wildcards bool) bool {
	tokens := strings.Split(s, ".")
	if len(s) > MaxNameBytes || len(tokens) > MaxTokens {
		return false
	}
	for i, token := range tokens {
		wild := token == "*" || token == ">" && i == len(tokens)-1
		if token == "" || wild && !wildcards {
			return false
		}
		for _, r := range token {
			if r < '!' || r > '~' || !wild && strings.ContainsRune("\"%&'()*,;<>?[\\]^`{|}", r) {
				return false
			}
		}
	}
	return true
}

// matchReference is Pattern.Match, slowly.
func matchReference(pattern, name string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(name, ".")
	for i, token := range want {
		if token == ">" {
			return len(have) > i
		}
		if i >= len(have) || token != "*" && token != have[i] {
			return false
		}
	}
	return len(want) == len(have)
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a.*.b.>", "*", ">", "a", "a.b.c", "a..b", "*.>", "a.>.b", "a*",
		"~.!"} {
		for _, name := range []string{"a.x.b.c", "a", "a.b.c", "..", "a.b%c", "\u202e"} {
			f.Add(s, name)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := ParsePattern(pattern)
		if (err == nil) != validReference(pattern, true) {
			t.Fatalf("pattern %q: %v", pattern, err)
		}
		valid := CheckName(name) == nil
		if valid != validReference(name, false) {
			t.Fatalf("name %q: valid is %v", name, valid)
		}
		if err != nil || !valid {
			p.Match(name) // and does not panic
			return
		}
		want := matchReference(pattern, name)
		if p.Match(name) != want {
			t.Fatalf("%q matches %q: %v", pattern, name, !want)
		}
		var x Index[int]
		x.Add(p, 1)
		if got := x.Match(name, nil); (len(got) == 1) != want {
			t.Fatalf("Index of %q: %q matches %v", pattern, name, got)
		}
		if !x.Remove(p, 1) || x.Len() != 0 || len(x.Match(name, nil)) != 0 {
			t.Fatalf("Index of %q keeps it", pattern)
		}
	})
}
