package topic

// Set is the subscribers of a topic. Within one Routes, topics with equal subscribers have
// the same *Set: comparing pointers compares sets. A Set never changes.
type Set[T comparable] struct {
	members []T
	topics  int // how many are resolved to it
	hash    uint64
	next    *Set[T] // with the same hash
}

// Members is the subscribers, each once, in the order in which they came. The slice is
// shared, and must not be changed; it stays as it is even after the topic has other
// subscribers.
func (s *Set[T]) Members() []T { return s.members }

// Len is how many there are.
func (s *Set[T]) Len() int { return len(s.members) }

// setTable holds each set that a topic is resolved to, once.
type setTable[T comparable] struct {
	none  Set[T] // the empty one
	sets  map[uint64]*Set[T]
	count int
}

// intern answers the set of these members, which are in order.
func (t *setTable[T]) intern(members []*member[T]) *Set[T] {
	if len(members) == 0 {
		return &t.none
	}
	var hash uint64
	for _, m := range members {
		hash = mix(hash, m.order)
	}
	for s := t.sets[hash]; s != nil; s = s.next {
		if s.has(members) {
			return s
		}
	}
	s := &Set[T]{hash: hash, next: t.sets[hash], members: make([]T, len(members))}
	for i, m := range members {
		s.members[i] = m.value
	}
	if t.sets == nil {
		t.sets = make(map[uint64]*Set[T])
	}
	t.sets[hash] = s
	t.count++
	return s
}

func (s *Set[T]) has(members []*member[T]) bool {
	if len(s.members) != len(members) {
		return false
	}
	for i, m := range members {
		if s.members[i] != m.value {
			return false
		}
	}
	return true
}

// drop takes one topic from s, and s from the table when that was the last.
func (t *setTable[T]) drop(s *Set[T]) {
	if s.topics--; s.topics > 0 || s == &t.none {
		return
	}
	t.count--
	first := t.sets[s.hash]
	switch {
	case first != s:
		for first.next != s {
			first = first.next
		}
		first.next = s.next
	case s.next == nil:
		delete(t.sets, s.hash)
	default:
		t.sets[s.hash] = s.next
	}
}

// mix adds n to a hash. Peers do not choose what is hashed: the orders of members, and the
// numbers of nodes, count up.
func mix(hash, n uint64) uint64 {
	hash = (hash ^ n) * 0x9e3779b97f4a7c15
	return hash ^ hash>>29
}

// memo remembers, between two changes of an Index, which nodes make which set, so that the
// cost of resolving many topics with the same patterns does not depend on how many
// subscribers there are.
type memo[T comparable] struct {
	slots [memoSlots]recipe[T]
	used  bool
}

type recipe[T comparable] struct {
	lists [memoLists]*node[T]
	count int
	set   *Set[T]
}

// slot is where the recipe of these nodes is, or may be written; nil if there are too many.
func (m *memo[T]) slot(lists []*node[T]) (r *recipe[T], hit bool) {
	if len(lists) > memoLists {
		return nil, false
	}
	var hash uint64
	for _, n := range lists {
		hash = mix(hash, n.number)
	}
	r = &m.slots[hash%memoSlots]
	if r.count != len(lists) {
		return r, false
	}
	for i, n := range lists {
		if r.lists[i] != n {
			return r, false
		}
	}
	return r, true
}

func (m *memo[T]) write(r *recipe[T], lists []*node[T], set *Set[T]) {
	m.used = true
	clear(r.lists[copy(r.lists[:], lists):])
	r.count, r.set = len(lists), set
}

// forget empties the memory: the Index changes.
func (m *memo[T]) forget() {
	if m.used {
		clear(m.slots[:])
		m.used = false
	}
}
