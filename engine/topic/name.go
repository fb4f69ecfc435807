package topic

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrName is what every *NameError Is.
var ErrName = errors.New("topic: bad name")

// NameError is a name or a pattern that breaks the rules. It Is ErrName. Its text is safe
// to log and to send: printable ASCII, and short.
type NameError struct {
	Name   string // quoted as Go quotes, and cut after 64 bytes
	Reason string // with the offset, in bytes
}

func (e *NameError) Error() string { return "topic: bad name " + e.Name + ": " + e.Reason }

// Is reports whether target is ErrName.
func (e *NameError) Is(target error) bool { return target == ErrName }

func nameError(name, format string, args ...any) error {
	quoted := ""
	if len(name) > quotedBytes {
		quoted = strconv.QuoteToASCII(name[:quotedBytes]) + "..."
	} else {
		quoted = strconv.QuoteToASCII(name)
	}
	return &NameError{Name: quoted, Reason: fmt.Sprintf(format, args...)}
}

// inToken has the bytes that a token may have. Control characters, spaces, backslashes,
// percent signs, quotes and everything beyond ASCII are out: they end names early, hide in
// logs, or mean something else once somebody has decoded them. The wildcards are * and >
// alone; the # and + of other protocols are plain bytes here, and their doors translate.
var inToken = func() (in [256]bool) {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/:+@#$=~!"
	for _, c := range []byte(allowed) {
		in[c] = true
	}
	return in
}()

// CheckName answers a *NameError where no topic may be called name.
func CheckName(name string) error {
	_, err := check(name, false)
	return err
}

// check checks a name, or a pattern where wildcards may be, and answers where the first
// token with a wildcard starts: len(s) if there is none.
func check(s string, wildcards bool) (wild int, err error) {
	if s == "" {
		return 0, nameError(s, "it is empty")
	}
	if len(s) > MaxNameBytes {
		return 0, nameError(s, "it has %d bytes, the limit is %d", len(s), MaxNameBytes)
	}
	wild = len(s)
	tokens, start := 0, 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '.' {
			if i == start {
				return 0, nameError(s, "empty token at offset %d", i)
			}
			if tokens++; tokens > MaxTokens {
				return 0, nameError(s, "it has over %d tokens", MaxTokens)
			}
			start = i + 1
			continue
		}
		c := s[i]
		if inToken[c] {
			continue
		}
		if c != '*' && c != '>' {
			return 0, nameError(s, "byte 0x%02x at offset %d is not allowed", c, i)
		}
		if !wildcards {
			return 0, nameError(s, "%c at offset %d is for patterns only", c, i)
		}
		if i != start || i+1 < len(s) && s[i+1] != '.' {
			return 0, nameError(s, "%c at offset %d is not alone in its token", c, i)
		}
		if c == '>' && i+1 < len(s) {
			return 0, nameError(s, "> at offset %d is not the last token", i)
		}
		wild = min(wild, start)
	}
	return wild, nil
}

// cut splits the first token off; more says whether there is another.
func cut(s string) (token, rest string, more bool) {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
