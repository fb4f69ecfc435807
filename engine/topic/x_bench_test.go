package topic

import (
	"fmt"
	"testing"
	"time"
)

const (
	benchTopics        = 100_000
	benchSubscriptions = 10_000
)

// benchRoutes is 100,000 topics a.<1000>.b.<100>, and 10,000 subscriptions of 1,000
// subscribers: 8,000 literal ones, and 2,000 with wildcards. All topics are resolved.
func benchRoutes(b *testing.B) (*Routes[int], *Registry) {
	names := NewRegistry(benchTopics)
	r := NewRoutes[int](names)
	for i := range benchTopics {
		if _, err := names.Intern(benchName(i)); err != nil {
			b.Fatal(err)
		}
	}
	for i := range benchSubscriptions {
		p := benchName(i * 12)
		switch {
		case i%10 == 0:
			p = fmt.Sprintf("a.%d.b.>", i/10)
		case i%10 == 1:
			p = fmt.Sprintf("a.*.b.%d", i/10%100)
		}
		r.Add(mustParse(p), i%1000)
	}
	for i := range benchTopics {
		r.Set(uint32(i + 1))
	}
	return r, names
}

func benchName(i int) string { return fmt.Sprintf("a.%d.b.%d", i%benchTopics/100, i%100) }

var sink int

func BenchmarkRoutesSet(b *testing.B) {
	r, _ := benchRoutes(b)
	n := uint32(0)
	for b.Loop() {
		if n++; n > benchTopics {
			n = 1
		}
		sink += r.Set(n).Len()
	}
	b.ReportMetric(float64(r.Sets()), "sets")
}

func BenchmarkRoutesResolve(b *testing.B) {
	r, _ := benchRoutes(b)
	n := uint32(0)
	for b.Loop() {
		if n++; n > benchTopics {
			n = 1
		}
		r.topics[n].place.unresolve()
		r.table.drop(r.sets[n])
		r.sets[n] = nil
		sink += r.Set(n).Len()
	}
}

// BenchmarkRoutesChurn adds and removes one pattern, and resolves all that it matches each
// time: ns/op covers both changes and both resolutions.
func BenchmarkRoutesChurn(b *testing.B) {
	for _, c := range []struct{ name, pattern string }{
		{"literal", "a.77.b.7"}, {"rest=100", "a.77.b.>"}, {"star=1000", "a.*.b.7"},
		{"all=100000", ">"},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, names := benchRoutes(b)
			p := mustParse(c.pattern)
			var matches []uint32
			for n := range uint32(benchTopics) {
				if p.Match(names.Name(n + 1)) {
					matches = append(matches, n+1)
				}
			}
			again := func() {
				for _, n := range matches {
					sink += r.Set(n).Len()
				}
			}
			for b.Loop() {
				r.Add(p, 5000)
				again()
				r.Remove(p, 5000)
				again()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N*len(matches)), "ns/topic")
		})
	}
}

// BenchmarkRoutesAdd is a firehose subscriber that comes where 100,000 topics are resolved,
// and who leaves where none is. ns/op covers resolving them in between; ns/add does not.
func BenchmarkRoutesAdd(b *testing.B) {
	r, _ := benchRoutes(b)
	p := mustParse(">")
	var adding, removing time.Duration
	for b.Loop() {
		for n := range uint32(benchTopics) {
			r.Set(n + 1)
		}
		start := time.Now()
		r.Add(p, 5000)
		added := time.Now()
		r.Remove(p, 5000)
		adding += added.Sub(start)
		removing += time.Since(added)
	}
	b.ReportMetric(float64(adding.Nanoseconds())/float64(b.N), "ns/add")
	b.ReportMetric(float64(removing.Nanoseconds())/float64(b.N), "ns/remove")
}

// BenchmarkRoutesFirehose is one more firehose subscriber, where there are many already,
// and 1,000 topics that carry messages.
func BenchmarkRoutesFirehose(b *testing.B) {
	for _, subscribers := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprintf("subs=%d", subscribers), func(b *testing.B) {
			names := NewRegistry(0)
			r := NewRoutes[int](names)
			r.OnResolve = func(uint32, int) { sink++ }
			p := mustParse(">")
			for v := range subscribers {
				r.Add(p, v)
			}
			for i := range 1000 {
				n, _ := names.Intern(benchName(i))
				r.Set(n)
			}
			for b.Loop() {
				r.Add(p, -1)
				for n := range uint32(1000) {
					sink += r.Set(n + 1).Len()
				}
				r.Remove(p, -1)
			}
		})
	}
}

func BenchmarkIndexMatch(b *testing.B) {
	r, names := benchRoutes(b)
	var dst []int
	n := uint32(0)
	for b.Loop() {
		if n++; n > benchTopics {
			n = 1
		}
		dst = r.index.Match(names.Name(n), dst[:0])
	}
}

func BenchmarkPatternMatch(b *testing.B) {
	for _, pattern := range []string{"a.55.b.7", "a.*.b.>", ">"} {
		p := mustParse(pattern)
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				if p.Match("a.55.b.7") {
					sink++
				}
			}
		})
	}
}

func BenchmarkRegistryName(b *testing.B) {
	_, names := benchRoutes(b)
	n := uint32(0)
	for b.Loop() {
		if n++; n > benchTopics {
			n = 1
		}
		sink += len(names.Name(n))
	}
}

func BenchmarkRegistryIntern(b *testing.B) {
	_, names := benchRoutes(b)
	name := names.Name(benchTopics / 2)
	for b.Loop() {
		n, _ := names.Intern(name)
		sink += int(n)
	}
}
