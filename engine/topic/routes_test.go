package topic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/ring/ringtest"
)

func newRoutes(t testing.TB, names ...string) (*Routes[int], *Registry) {
	t.Helper()
	registry := NewRegistry(0)
	for _, name := range names {
		if _, err := registry.Intern(name); err != nil {
			t.Fatal(err)
		}
	}
	return NewRoutes[int](registry), registry
}

func TestRoutesShareEqualSets(t *testing.T) {
	r, _ := newRoutes(t, "a.1", "a.2", "b.1", "c")
	r.Add(mustParse("a.*"), 1)
	r.Add(mustParse("b.>"), 1) // another pattern, the same subscriber
	if a, b := r.Set(1), r.Set(2); a != b || !slices.Equal(a.Members(), []int{1}) {
		t.Errorf("a.1 and a.2 have %v and %v", a, b)
	}
	if r.Set(1) != r.Set(3) {
		t.Error("equal sets of different patterns are not the same")
	}
	if none := r.Set(4); none.Len() != 0 || none != r.Set(0) || none != r.Set(99) {
		t.Error("the empty sets are not the same")
	}
	if r.Sets() != 1 || r.Len() != 2 {
		t.Errorf("%d sets, %d pairs", r.Sets(), r.Len())
	}
	old := r.Set(3)
	r.Add(mustParse("b.1"), 2)
	if !slices.Equal(old.Members(), []int{1}) {
		t.Errorf("a set changed to %v", old.Members())
	}
	if !slices.Equal(r.Set(3).Members(), []int{1, 2}) || r.Set(1) != old {
		t.Errorf("b.1 has %v, a.1 has %v", r.Set(3).Members(), r.Set(1).Members())
	}
}

func TestRoutesResolveOnlyWhatChanged(t *testing.T) {
	r, _ := newRoutes(t, "a.1", "a.2", "b.1", "a", "a.1.x")
	resolvedNow := func() (all []int) {
		for n := 1; n < len(r.sets); n++ {
			if r.sets[n] != nil {
				all = append(all, n)
			}
		}
		return all
	}
	for _, c := range []struct {
		pattern string
		left    []int
	}{
		{"a.1", []int{2, 3, 4, 5}}, {"a.*", []int{3, 4, 5}}, {"*", []int{1, 2, 3, 5}},
		{"a.>", []int{3, 4}}, {"*.1.>", []int{1, 2, 3, 4}}, {"z.*", []int{1, 2, 3, 4, 5}},
		{">", nil}, {"*.1", []int{2, 4, 5}}, {"a.1.x.y", []int{1, 2, 3, 4, 5}},
	} {
		for _, change := range []func(Pattern, int) bool{r.Add, r.Remove} {
			for n := range uint32(5) {
				r.Set(n + 1)
			}
			change(mustParse(c.pattern), 1)
			if got := resolvedNow(); !slices.Equal(got, c.left) {
				t.Errorf("after a change to %s, %v are resolved, want %v", c.pattern, got, c.left)
			}
		}
	}
}

func TestRoutesTopicNamedAfterItsSubscription(t *testing.T) {
	r, names := newRoutes(t)
	r.Add(mustParse("late.*"), 7)
	if r.Set(1).Len() != 0 {
		t.Fatal("a topic that has no name has subscribers")
	}
	n, _ := names.Intern("late.topic")
	if got := r.Set(n).Members(); !slices.Equal(got, []int{7}) {
		t.Errorf("it has %v", got)
	}
}

func TestRoutesTellOnlyWhoIsNew(t *testing.T) {
	r, _ := newRoutes(t, "a.1", "a.2")
	var told []int
	r.OnResolve = func(topic uint32, v int) { told = append(told, int(topic)*1000+v) }
	expect := func(what string, want ...int) {
		t.Helper()
		r.Set(1)
		r.Set(2)
		if !slices.Equal(told, want) {
			t.Errorf("%s: told %v, want %v", what, told, want)
		}
		told = nil
	}
	r.Add(mustParse("a.*"), 1)
	expect("first", 1001, 2001)
	expect("again")
	r.Add(mustParse("a.>"), 2)
	expect("a wildcard", 1002, 2002)
	r.Add(mustParse("a.2"), 3)
	expect("a literal", 2003)
	r.Add(mustParse("a.1"), 4)
	r.Remove(mustParse("a.1"), 4)
	expect("came and went")
	for v := range recentJoins + 1 {
		r.Add(mustParse("b"), v)
	}
	r.Remove(mustParse("a.2"), 3)
	expect("after too much to remember", 2001, 2002)
}

// route is the reference: what was added, in order.
type route struct {
	pattern string
	who     int
}

// want is who must be in the set for name: in the order of arrival, which is in arrived.
func want(routes []route, arrived []int, name string) (who []int) {
	for _, v := range arrived {
		if slices.ContainsFunc(routes, func(r route) bool {
			return r.who == v && matchReference(r.pattern, name)
		}) {
			who = append(who, v)
		}
	}
	return who
}

func TestRoutesAgreeWithTheModel(t *testing.T) {
	seed := ringtest.Seed(t)
	random := rand.New(rand.NewPCG(uint64(seed), 26))
	steps := 20_000
	if testing.Short() {
		steps = 3_000
	}
	r, names := newRoutes(t)
	told := map[[2]int]bool{} // topic and subscriber, until the subscriber leaves
	r.OnResolve = func(topic uint32, v int) { told[[2]int{int(topic), v}] = true }
	var routes []route
	var arrived []int
	for step := range steps {
		switch op := random.IntN(10); {
		case op < 2:
			add := route{randomName(random, true), random.IntN(12)}
			had := slices.Contains(routes, add)
			if r.Add(mustParse(add.pattern), add.who) == had {
				t.Fatalf("step %d: Add %v: it was there: %v", step, add, had)
			}
			if !had {
				routes = append(routes, add)
			}
			if !slices.Contains(arrived, add.who) {
				arrived = append(arrived, add.who)
			}
		case op < 4:
			gone := route{randomName(random, true), random.IntN(12)}
			if len(routes) > 0 && (op == 2 || len(routes) > 40) {
				gone = routes[random.IntN(len(routes))]
			}
			at := slices.Index(routes, gone)
			if r.Remove(mustParse(gone.pattern), gone.who) != (at >= 0) {
				t.Fatalf("step %d: Remove %v: it was there: %v", step, gone, at >= 0)
			}
			if at >= 0 {
				routes = slices.Delete(routes, at, at+1)
			}
			if !slices.ContainsFunc(routes, func(r route) bool { return r.who == gone.who }) {
				arrived = slices.DeleteFunc(arrived, func(v int) bool { return v == gone.who })
				for k := range told {
					if k[1] == gone.who {
						delete(told, k)
					}
				}
			}
		default:
			name := randomName(random, false)
			topic, err := names.Intern(name)
			if err != nil {
				t.Fatal(err)
			}
			got, who := r.Set(topic), want(routes, arrived, name)
			if !slices.Equal(got.Members(), who) {
				t.Fatalf("step %d: %s has %v, want %v", step, name, got.Members(), who)
			}
			for _, v := range who {
				if !told[[2]int{int(topic), v}] {
					t.Fatalf("step %d: %d was not told of %s", step, v, name)
				}
			}
		}
		if step%100 == 0 {
			checkSets(t, r)
		}
	}
}

// randomName makes a name, or a pattern, of few tokens, so that many match.
func randomName(random *rand.Rand, wildcards bool) string {
	tokens := make([]string, 1+random.IntN(4))
	for i := range tokens {
		tokens[i] = string(rune('a' + random.IntN(4)))
		if wildcards && random.IntN(3) == 0 {
			tokens[i] = "*"
		}
	}
	if wildcards && random.IntN(4) == 0 {
		tokens[len(tokens)-1] = ">"
	}
	return strings.Join(tokens, ".")
}

// checkSets checks that equal sets are the same, and that only those in use are kept.
func checkSets(t *testing.T, r *Routes[int]) {
	t.Helper()
	seen := map[string]*Set[int]{}
	uses := map[*Set[int]]int{}
	for _, s := range r.sets {
		if s == nil {
			continue
		}
		key := fmt.Sprint(s.Members())
		if other := seen[key]; other != nil && other != s {
			t.Fatalf("there are two sets %s", key)
		}
		seen[key] = s
		uses[s]++
	}
	delete(seen, "[]")
	if r.Sets() != len(seen) {
		t.Fatalf("%d sets are kept, %d are in use", r.Sets(), len(seen))
	}
	chained := 0
	for _, s := range r.table.sets {
		for ; s != nil; s = s.next {
			if chained++; uses[s] != s.topics {
				t.Fatalf("%v has %d topics, and counts %d", s.Members(), uses[s], s.topics)
			}
		}
	}
	if chained != r.Sets() {
		t.Fatalf("%d sets are in the table, which counts %d", chained, r.Sets())
	}
}

func TestSetsOfEqualHashAreApart(t *testing.T) {
	var table setTable[int]
	at := func(v int, order uint64) *member[int] { return &member[int]{value: v, order: order} }
	groups := [][]*member[int]{{at(1, 10)}}
	for n := range uint64(3) { // of whose members the last makes the hash that of the first
		groups = append(groups, []*member[int]{at(2+int(n), n), at(9, mix(0, n)^10)})
	}
	var sets []*Set[int]
	for _, g := range groups {
		s := table.intern(g)
		s.topics++
		if sets = append(sets, s); s.hash != sets[0].hash || table.intern(g) != s {
			t.Fatalf("%v: another hash, or another set the second time", s.Members())
		}
	}
	for i, gone := range []int{2, 0, 3, 1} { // from the middle, and both ends
		table.drop(sets[gone])
		for j := range groups {
			left := slices.Contains([]int{2, 0, 3, 1}[i+1:], j)
			found := false
			for s := table.sets[sets[0].hash]; s != nil; s = s.next {
				found = found || s == sets[j]
			}
			if found != left {
				t.Errorf("after %d drops, set %d is there: %v", i+1, j, found)
			}
		}
	}
	if table.count != 0 || len(table.sets) != 0 {
		t.Errorf("%d sets are left", table.count)
	}
}
