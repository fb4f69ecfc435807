package topic

// Pattern stands for the topics that it matches. It is a value: it may be copied, compared
// with ==, and used by any goroutine. The zero Pattern matches nothing.
type Pattern struct {
	text string
	wild int // where the first token with a wildcard starts; len(text) if there is none
}

// ParsePattern checks s, which may be a topic's name or have wildcards, and keeps it. The
// error is a *NameError.
func ParsePattern(s string) (Pattern, error) {
	wild, err := check(s, true)
	if err != nil {
		return Pattern{}, err
	}
	return Pattern{text: s, wild: wild}, nil
}

// String is what the pattern was parsed from.
func (p Pattern) String() string { return p.text }

// IsLiteral reports whether the pattern has no wildcards, so that it matches one topic.
func (p Pattern) IsLiteral() bool { return p.wild == len(p.text) }

// Match reports whether the pattern matches a topic's name, which must be a valid one.
func (p Pattern) Match(name string) bool {
	if p.IsLiteral() {
		return name == p.text && name != ""
	}
	if len(name) <= p.wild || name[:p.wild] != p.text[:p.wild] {
		return false
	}
	pattern, rest := p.text[p.wild:], name[p.wild:]
	for {
		want, wants, more := cut(pattern)
		if want == ">" {
			return true
		}
		token, tokens, there := cut(rest)
		if want != "*" && want != token || more != there {
			return false
		}
		if !more {
			return true
		}
		pattern, rest = wants, tokens
	}
}
