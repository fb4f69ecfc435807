package netiotest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/ring"
)

// UnsupportedError names what a test needs and this machine or user lacks. It Is
// ring.ErrNotSupported.
type UnsupportedError struct {
	Feature string // as FANOUT_MUST_RUN names it
	Cause   error
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("netiotest: %s is not available here: %v", e.Feature, e.Cause)
}

// Is reports whether target is ring.ErrNotSupported.
func (e *UnsupportedError) Is(target error) bool { return target == ring.ErrNotSupported }

// Unwrap is the cause.
func (e *UnsupportedError) Unwrap() error { return e.Cause }

// Skip skips the test, or fails it where FANOUT_MUST_RUN names the feature.
func Skip(t testing.TB, e *UnsupportedError) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("FANOUT_MUST_RUN"), ","), e.Feature) {
		t.Fatal(e)
	}
	t.Skip(e)
}
