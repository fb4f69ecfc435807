package topic

import (
	"slices"
	"testing"
)

func TestIndexAnswersEachOnceInOrderOfArrival(t *testing.T) {
	var x Index[string]
	for _, add := range []struct{ pattern, who string }{
		{"a.b", "first"}, {">", "second"}, {"a.*", "third"}, {"a.>", "first"}, {"*.b", "second"},
	} {
		if !x.Add(mustParse(add.pattern), add.who) {
			t.Fatalf("%v was there", add)
		}
	}
	if x.Add(mustParse("a.*"), "third") || x.Len() != 5 {
		t.Errorf("a pair was added twice: %d pairs", x.Len())
	}
	for name, want := range map[string][]string{
		"a.b": {"first", "second", "third"}, "a.c": {"first", "second", "third"},
		"c.b": {"second"}, "a": {"second"}, "a.b.c": {"first", "second"}, "": nil,
	} {
		if got := x.Match(name, nil); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := x.Match("a.b", []string{"dst"}); len(got) != 4 || got[0] != "dst" {
		t.Errorf("dst was not appended to: %v", got)
	}
	// Who leaves entirely comes back last; who keeps a pattern keeps its place.
	x.Remove(mustParse("a.b"), "first")
	x.Add(mustParse("a.b"), "first")
	x.Remove(mustParse(">"), "second")
	x.Remove(mustParse("*.b"), "second")
	x.Add(mustParse(">"), "second")
	if got := x.Match("a.b", nil); !slices.Equal(got, []string{"first", "third", "second"}) {
		t.Errorf("after coming back: %v", got)
	}
}

func TestIndexKeepsNothingOfWhoLeft(t *testing.T) {
	var x Index[int]
	patterns := []string{"a", "a.b.c.d", "a.*.c", "a.*.>", ">", "*", "b.>"}
	for _, s := range patterns {
		x.Add(mustParse(s), 1)
		x.Add(mustParse(s), 2)
	}
	for _, s := range []string{"b", "a.b", "a.b.c.d.e", "a.*", "*.*", "c.>"} {
		if x.Remove(mustParse(s), 1) {
			t.Errorf("%s was not added, and was removed", s)
		}
	}
	for _, s := range patterns {
		if !x.Remove(mustParse(s), 1) || x.Remove(mustParse(s), 1) || !x.Remove(mustParse(s), 2) {
			t.Errorf("%s was not removed just once", s)
		}
	}
	if x.Add(Pattern{}, 1) || x.Remove(Pattern{}, 1) {
		t.Error("the zero pattern was added or removed")
	}
	n := x.root
	if x.Len() != 0 || len(x.members) != 0 || len(n.children) != 0 || n.star != nil || n.rest != nil {
		t.Errorf("an empty index keeps %d pairs, %d members, %+v", x.Len(), len(x.members), n)
	}
}
