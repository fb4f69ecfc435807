package native

// maxTokens bounds the tokens of a topic's name.
const maxTokens = 32

// inToken has the bytes that a token of a name may have.
var inToken = func() (in [256]bool) {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/:+@#$=~!"
	for _, c := range []byte(allowed) {
		in[c] = true
	}
	return in
}()

// CheckTopic answers an error, CodeTopicName, where no topic may be called name. Servers
// have the last word; a client that asks here first keeps its connection.
func CheckTopic(name string) error {
	if len(name) == 0 || len(name) > MaxTopicBytes {
		return Errorf(CodeTopicName, "a name of %d bytes is outside 1 to %d", len(name),
			MaxTopicBytes)
	}
	tokens, first := 1, 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case inToken[c]:
		case c != '.':
			return Errorf(CodeTopicName, "byte 0x%02x at offset %d is not allowed", c, i)
		case i == first:
			return Errorf(CodeTopicName, "empty token at offset %d", i)
		default:
			tokens, first = tokens+1, i+1
		}
	}
	if first == len(name) {
		return Errorf(CodeTopicName, "empty token at offset %d", first)
	}
	if tokens > maxTokens {
		return Errorf(CodeTopicName, "%d tokens are over the limit of %d", tokens, maxTokens)
	}
	return nil
}
