//go:build !race

package topic

import (
	"fmt"
	"testing"
)

func TestZeroAlloc(t *testing.T) {
	r, names := newRoutes(t, "a.x.b.c", "a.b", "z")
	for v := range 100 {
		r.Add(mustParse("a.*.b.>"), v)
		r.Add(mustParse(fmt.Sprintf("a.x.b.%d", v)), v)
		r.Add(mustParse(">"), v/2)
	}
	p := mustParse("a.*.b.>")
	dst := make([]int, 0, 256)
	topics := []uint32{1, 2, 3, 1}
	matched := 0
	for what, fn := range map[string]func(){
		"Routes.Set": func() {
			for _, n := range topics {
				matched += r.Set(n).Len()
			}
		},
		"Index.Match": func() { dst = r.index.Match("a.x.b.c", dst[:0]) },
		"Pattern.Match": func() {
			if p.Match("a.x.b.c") {
				matched++
			}
		},
		"Registry.Name":   func() { matched += len(names.Name(1)) },
		"Registry.Lookup": func() { names.Lookup("a.b") },
		"Registry.Intern": func() { names.Intern("a.b") },
		"CheckName":       func() { CheckName("a.x.b.c") },
	} {
		fn()
		if n := testing.AllocsPerRun(100, fn); n != 0 {
			t.Errorf("%s allocates %v times", what, n)
		}
	}
	if matched == 0 || len(dst) != 100 {
		t.Errorf("%d matched, %d in dst", matched, len(dst))
	}
}
