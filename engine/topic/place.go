package topic

// place is a token of the names of topics, below the tokens before it. Places are made
// once for each topic, and stay. A place is live while a topic at it or below it is
// resolved: live places are linked below their parents, so that a change to a wildcard
// visits the topics that were resolved since the last one, and no others.
type place struct {
	children map[string]*place
	parent   *place
	live     *place // first live child
	next     *place // live siblings
	prev     *place
	topic    uint32 // whose name ends here; 0: none
	linked   bool   // among the parent's live children
	resolved bool   // topic is
}

// reach is the place at the end of name, below p, made if it is not there.
func (p *place) reach(name string) *place {
	for more := true; more; {
		var token string
		token, name, more = cut(name)
		c := p.children[token]
		if c == nil {
			c = &place{parent: p}
			if p.children == nil {
				p.children = make(map[string]*place)
			}
			p.children[token] = c
		}
		p = c
	}
	return p
}

// resolve notes that p's topic is resolved.
func (p *place) resolve() {
	p.resolved = true
	for ; p.parent != nil && !p.linked; p = p.parent {
		p.linked = true
		p.next = p.parent.live
		if p.next != nil {
			p.next.prev = p
		}
		p.parent.live = p
	}
}

// unresolve notes that p's topic is not resolved any more.
func (p *place) unresolve() {
	p.resolved = false
	for p.parent != nil && !p.resolved && p.live == nil {
		if p.prev != nil {
			p.prev.next = p.next
		} else {
			p.parent.live = p.next
		}
		if p.next != nil {
			p.next.prev = p.prev
		}
		p.next, p.prev, p.linked = nil, nil, false
		p = p.parent
	}
}

// visit calls fn for each place below p that has a resolved topic which pattern matches.
// fn may unresolve that one.
func (p *place) visit(pattern string, fn func(*place)) {
	token, rest, more := cut(pattern)
	switch {
	case token == ">":
		p.below(fn)
	case token == "*":
		for c := p.live; c != nil; {
			next := c.next // c may be unlinked by fn; its siblings are not
			c.at(rest, more, fn)
			c = next
		}
	default:
		if c := p.children[token]; c != nil && c.linked {
			c.at(rest, more, fn)
		}
	}
}

// at goes on with the rest of a pattern, of which p took a token.
func (p *place) at(rest string, more bool, fn func(*place)) {
	switch {
	case more:
		p.visit(rest, fn)
	case p.resolved:
		fn(p)
	}
}

func (p *place) below(fn func(*place)) {
	for c := p.live; c != nil; {
		next := c.next
		c.below(fn)
		if c.resolved {
			fn(c)
		}
		c = next
	}
}
