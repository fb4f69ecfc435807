package topic

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/fantail-io/fantail/ring"
)

func TestRegistryNumbersAreDense(t *testing.T) {
	if MaxTopics != ring.MaxTopics-1 {
		t.Fatalf("MaxTopics is %d; the stream has numbers below %d", MaxTopics, ring.MaxTopics)
	}
	const topics = 3 * chunkNames
	r := NewRegistry(topics)
	for i := range topics {
		name := fmt.Sprintf("t.%d", i)
		for range 2 {
			if n, err := r.Intern(name); err != nil || n != uint32(i+1) {
				t.Fatalf("%s is %d, %v", name, n, err)
			}
		}
		if got := r.Name(uint32(i + 1)); got != name {
			t.Fatalf("%d is %q, want %q", i+1, got, name)
		}
	}
	if n, err := r.Intern("one.more"); n != 0 || !errors.Is(err, ErrTooManyTopics) {
		t.Errorf("a topic over the limit is %d, %v", n, err)
	}
	if n, err := r.Intern("t.5"); n != 6 || err != nil {
		t.Errorf("a full registry answers %d, %v for a name that it has", n, err)
	}
	if n, ok := r.Lookup("one.more"); n != 0 || ok {
		t.Errorf("a name that was refused is %d", n)
	}
	for _, n := range []uint32{0, topics + 1, 1 << 31, 1<<32 - 1} {
		if got := r.Name(n); got != "" {
			t.Errorf("%d is %q", n, got)
		}
	}
	if r.Len() != topics {
		t.Errorf("%d topics, want %d", r.Len(), topics)
	}
}

func TestRegistryLimits(t *testing.T) {
	for given, want := range map[int]uint32{-1: DefaultMaxTopics, 0: DefaultMaxTopics, 1: 1,
		MaxTopics: MaxTopics, MaxTopics + 1: MaxTopics} {
		if got := NewRegistry(given).max; got != want {
			t.Errorf("NewRegistry(%d) takes %d topics, want %d", given, got, want)
		}
	}
}

func TestStressRegistryAgreesWithItself(t *testing.T) {
	topics := 4 * chunkNames
	if testing.Short() {
		topics = chunkNames + 10
	}
	r := NewRegistry(topics)
	var all sync.WaitGroup
	numbers := make([][]uint32, 4)
	for g := range numbers {
		all.Go(func() {
			for i := range topics {
				n, err := r.Intern(fmt.Sprintf("t.%d", i))
				if err != nil {
					t.Error(err)
					return
				}
				numbers[g] = append(numbers[g], n)
				last := uint32(r.Len())
				if name := r.Name(last); name == "" {
					t.Errorf("topic %d of %d has no name", last, last)
				}
			}
		})
	}
	all.Wait()
	for i := range topics {
		name := fmt.Sprintf("t.%d", i)
		for g := range numbers {
			if n := numbers[g][i]; n != numbers[0][i] || r.Name(n) != name {
				t.Fatalf("%s is %d or %d; the latter is %q", name, numbers[0][i], n, r.Name(n))
			}
		}
	}
}
