package topic

// Routes answers who wants a topic, as fast as an array can be read: a topic is resolved
// when it is first asked for, and again after a pattern that matches it came or went.
// It belongs to one goroutine: a shard's.
type Routes[T comparable] struct {
	// OnResolve, where it is not nil, is called with a subscriber of a topic before Set
	// first answers a set in which it is, and perhaps again later. A subscriber that left
	// the topic and came back counts as new. Set it before the first Add. It is called from
	// Set; it may call Remove, which shows in the next Set, not in the one that is being
	// answered, but neither Add nor Set.
	OnResolve func(topic uint32, v T)

	sets   []*Set[T] // by topic; nil where it is not resolved
	topics []resolved
	names  *Registry
	index  Index[T]
	table  setTable[T]
	memo   memo[T]
	places place // the root

	joins  [recentJoins]join[T] // the last Adds
	joined uint64               // Adds so far
}

// resolved is what is kept of a topic that was resolved at least once.
type resolved struct {
	place *place
	since uint64 // 1 + the Adds there had been when it was last resolved; 0: never
}

// join is an Add that topics may not have been resolved since; zero if it was taken back.
type join[T comparable] struct {
	pattern Pattern
	value   T
}

// NewRoutes makes a table of the topics that names knows.
func NewRoutes[T comparable](names *Registry) *Routes[T] { return &Routes[T]{names: names} }

// Set is the subscribers of a topic; the empty Set where the Registry has no such topic.
func (r *Routes[T]) Set(topic uint32) *Set[T] {
	if uint(topic) < uint(len(r.sets)) && r.sets[topic] != nil {
		return r.sets[topic]
	}
	return r.resolve(topic)
}

// Add makes v a subscriber of the topics that p matches, and reports whether it was not
// yet one by that very pattern.
func (r *Routes[T]) Add(p Pattern, v T) bool {
	if !r.index.Add(p, v) {
		return false
	}
	if r.OnResolve != nil {
		r.joins[r.joined%recentJoins] = join[T]{p, v}
		r.joined++
	}
	r.invalidate(p)
	return true
}

// Remove takes back what Add added, and reports whether it was there.
func (r *Routes[T]) Remove(p Pattern, v T) bool {
	if !r.index.Remove(p, v) {
		return false
	}
	for i := range r.joins {
		if r.joins[i].value == v && r.joins[i].pattern == p {
			r.joins[i] = join[T]{}
		}
	}
	r.invalidate(p)
	return true
}

// Len is how many pairs of pattern and subscriber there are.
func (r *Routes[T]) Len() int { return r.index.Len() }

// Sets is how many different sets, beside the empty one, resolved topics have.
func (r *Routes[T]) Sets() int { return r.table.count }

// invalidate makes the topics that p matches be resolved again.
func (r *Routes[T]) invalidate(p Pattern) {
	r.memo.forget()
	r.places.visit(p.text, func(at *place) {
		at.unresolve()
		r.table.drop(r.sets[at.topic])
		r.sets[at.topic] = nil
	})
}

func (r *Routes[T]) resolve(topic uint32) *Set[T] {
	name := r.names.Name(topic)
	if name == "" {
		return &r.table.none // and nothing is kept: the topic may still come
	}
	r.grow(int(topic) + 1)
	set := r.match(name)
	set.topics++
	r.sets[topic] = set
	t := &r.topics[topic]
	if t.place == nil {
		t.place = r.places.reach(name)
		t.place.topic = topic
	}
	t.place.resolve()
	since := t.since
	t.since = r.joined + 1
	r.tell(topic, name, set, since)
	return set
}

// grow makes room for topics numbered below size.
func (r *Routes[T]) grow(size int) {
	if size <= len(r.sets) {
		return
	}
	size = max(size, min(2*len(r.sets), int(r.names.max)+1), 64)
	sets, topics := make([]*Set[T], size), make([]resolved, size)
	copy(sets, r.sets)
	copy(topics, r.topics)
	r.sets, r.topics = sets, topics
}

// match finds the set for a name.
func (r *Routes[T]) match(name string) *Set[T] {
	defer r.index.tidy()
	lists := r.index.find(name)
	if len(lists) == 0 {
		return &r.table.none
	}
	known, hit := r.memo.slot(lists)
	if hit {
		return known.set
	}
	set := r.table.intern(r.index.gather(lists))
	if known != nil {
		r.memo.write(known, lists, set)
	}
	return set
}

// tell calls OnResolve for the members of a topic's set that came since it was last
// resolved: those whose Adds are remembered, or else everybody.
func (r *Routes[T]) tell(topic uint32, name string, set *Set[T], since uint64) {
	if r.OnResolve == nil {
		return
	}
	if since == 0 || r.joined-(since-1) > recentJoins {
		for _, v := range set.members {
			r.OnResolve(topic, v)
		}
		return
	}
	for n := since - 1; n < r.joined; n++ {
		if j := r.joins[n%recentJoins]; j.pattern.Match(name) {
			r.OnResolve(topic, j.value)
		}
	}
}
