package topic

import (
	"cmp"
	"slices"
)

// Index finds the subscribers whose patterns match a name. The zero Index is empty and
// ready. It belongs to one goroutine.
//
// A Match takes time in proportion to the patterns that share the name's first tokens, not
// to all patterns.
type Index[T comparable] struct {
	root    node[T]
	members map[T]*member[T]
	joined  uint64 // members so far: the last one's order
	nodes   uint64 // nodes so far: the last one's number
	pairs   int
	round   uint64 // of gather
	lists   []*node[T]
	found   []*member[T]
}

// member is a subscriber that has at least one pattern.
type member[T comparable] struct {
	value    T
	order    uint64 // when it came; it keeps it until its last pattern is removed
	patterns int
	round    uint64 // the last gather that found it
}

// node is a token of patterns, below the tokens before it.
type node[T comparable] struct {
	number   uint64
	children map[string]*node[T]
	star     *node[T]     // *
	rest     *node[T]     // >
	members  []*member[T] // whose patterns end here, in order
}

// Add makes v a subscriber of the topics that p matches, and reports whether it was not
// yet one by that very pattern. The zero Pattern adds nothing.
func (x *Index[T]) Add(p Pattern, v T) bool {
	if p.text == "" {
		return false
	}
	n := &x.root
	for rest, more := p.text, true; more; {
		var token string
		token, rest, more = cut(rest)
		n = x.child(n, token)
	}
	m := x.members[v]
	if m == nil {
		if x.members == nil {
			x.members = make(map[T]*member[T])
		}
		x.joined++
		m = &member[T]{value: v, order: x.joined}
		x.members[v] = m
	}
	at, there := n.search(m)
	if there {
		return false
	}
	n.members = slices.Insert(n.members, at, m)
	m.patterns++
	x.pairs++
	return true
}

// child is n's child for a token of a pattern, made if it is not there.
func (x *Index[T]) child(n *node[T], token string) *node[T] {
	c := n.child(token)
	if c != nil {
		return c
	}
	x.nodes++
	c = &node[T]{number: x.nodes}
	switch token {
	case "*":
		n.star = c
	case ">":
		n.rest = c
	default:
		if n.children == nil {
			n.children = make(map[string]*node[T])
		}
		n.children[token] = c
	}
	return c
}

func (n *node[T]) child(token string) *node[T] {
	switch token {
	case "*":
		return n.star
	case ">":
		return n.rest
	}
	return n.children[token]
}

// search finds m among the members, or where it belongs.
func (n *node[T]) search(m *member[T]) (at int, there bool) {
	return slices.BinarySearchFunc(n.members, m, byOrder)
}

func byOrder[T comparable](a, b *member[T]) int { return cmp.Compare(a.order, b.order) }

// Remove takes back what Add added, and reports whether it was there.
func (x *Index[T]) Remove(p Pattern, v T) bool {
	m := x.members[v]
	if m == nil || !x.remove(&x.root, p.text, m) {
		return false
	}
	x.pairs--
	if m.patterns--; m.patterns == 0 {
		delete(x.members, v)
	}
	return true
}

// remove takes m from the node that pattern leads to, and nodes that nothing needs from
// the trie.
func (x *Index[T]) remove(n *node[T], pattern string, m *member[T]) bool {
	token, rest, more := cut(pattern)
	c := n.child(token)
	switch {
	case c == nil:
		return false
	case more:
		if !x.remove(c, rest, m) {
			return false
		}
	default:
		at, there := c.search(m)
		if !there {
			return false
		}
		c.members = slices.Delete(c.members, at, at+1)
	}
	if len(c.members) > 0 || len(c.children) > 0 || c.star != nil || c.rest != nil {
		return true
	}
	switch token {
	case "*":
		n.star = nil
	case ">":
		n.rest = nil
	default:
		delete(n.children, token)
	}
	return true
}

// Match appends to dst the subscribers of the topic with that name, which must be a valid
// one: each once, in the order in which they came to the Index. It allocates only to make
// dst longer.
func (x *Index[T]) Match(name string, dst []T) []T {
	for _, m := range x.gather(x.find(name)) {
		dst = append(dst, m.value)
	}
	x.tidy()
	return dst
}

// Len is how many pairs of pattern and subscriber there are.
func (x *Index[T]) Len() int { return x.pairs }

// find answers the nodes whose patterns match name, always in the same order. What it
// answers is valid until tidy.
func (x *Index[T]) find(name string) []*node[T] {
	if name != "" {
		x.walk(&x.root, name)
	}
	return x.lists
}

func (x *Index[T]) walk(n *node[T], name string) {
	for n != nil {
		if n.rest != nil {
			x.lists = append(x.lists, n.rest)
		}
		token, rest, more := cut(name)
		if !more {
			x.note(n.star)
			x.note(n.children[token])
			return
		}
		x.walk(n.star, rest)
		n, name = n.children[token], rest
	}
}

// note takes a node at which the name ends, if patterns end there too.
func (x *Index[T]) note(n *node[T]) {
	if n != nil && len(n.members) > 0 {
		x.lists = append(x.lists, n)
	}
}

// gather answers the members of nodes, each once and in order. What it answers is valid
// until tidy.
func (x *Index[T]) gather(lists []*node[T]) []*member[T] {
	switch len(lists) {
	case 0:
		return nil
	case 1:
		return lists[0].members
	}
	x.round++
	for _, n := range lists {
		for _, m := range n.members {
			if m.round != x.round {
				m.round = x.round
				x.found = append(x.found, m)
			}
		}
	}
	slices.SortFunc(x.found, byOrder)
	return x.found
}

// tidy forgets what find and gather answered, so that nobody who has left is kept.
func (x *Index[T]) tidy() {
	clear(x.lists)
	clear(x.found)
	x.lists, x.found = x.lists[:0], x.found[:0]
}
