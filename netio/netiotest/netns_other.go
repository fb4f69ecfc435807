//go:build !linux

package netiotest

import (
	"testing"

	"github.com/fantail-io/fantail/ring"
)

// NetNS is for Linux.
type NetNS struct{}

// NewNetNS skips the test.
func NewNetNS(t testing.TB) *NetNS {
	t.Helper()
	Skip(t, &UnsupportedError{Feature: "netns", Cause: ring.ErrNotSupported})
	return nil
}

// Do is never called.
func (n *NetNS) Do(func()) {}

// IP is never called.
func (n *NetNS) IP(string) error { return ring.ErrNotSupported }

// Join is never called.
func (n *NetNS) Join(testing.TB, *NetNS) {}
