package native

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/fantail-io/fantail/engine"
)

// soon is a context for closing what need not drain.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 100*time.Millisecond)
}

// openFiles is how many descriptors this process has; 0 where the system does not say.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// residentBytes is this process's resident memory; 0 where the system does not say.
func residentBytes() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			n, _ := strconv.ParseUint(string(bytes.Fields(rest)[0]), 10, 64)
			return n << 10
		}
	}
	return 0
}

// closeLater closes e at the test's end.
func closeLater(t testing.TB, e *engine.Engine) {
	t.Cleanup(func() {
		ctx, cancel := soon()
		defer cancel()
		_ = e.Close(ctx)
	})
}
