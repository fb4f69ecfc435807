//go:build !linux

package client

func newBackend(c GroupConfig) (backend, error) { return newPortableGroup(c), nil }

// member is where a subscription is in its group; that of its polling goroutine.
type member struct {
	turn chan struct{} // its goroutine may go on
}
