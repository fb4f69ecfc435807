package native

import (
	"testing"

	"github.com/fantail-io/fantail/netio/wire/native"
)

// Aliases that are negative where an int has 32 bits.
func TestHugeAliases(t *testing.T) {
	l := listen(t, testEngine(t), Config{})
	for _, alias := range []uint32{1 << 31, 1<<32 - 1} {
		p := dial(t, l)
		p.send(native.AppendTopic(nil, &native.Topic{ID: alias, Name: []byte("a")}))
		p.refused(native.CodeBadFrame)
		p = dial(t, l)
		p.send(native.AppendPublish(nil, &native.Publish{Alias: alias, Payload: []byte("x")}))
		p.refused(native.CodeUnknownTopic)
	}
}
