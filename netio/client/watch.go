package client

import (
	"context"
	"sync"
)

// watch calls a function when a context is done. It keeps its registration while the caller
// comes with the same one, so that a wait allocates nothing. Calls that come late are for
// the function to bear.
type watch struct {
	mu     sync.Mutex
	done   <-chan struct{}
	stop   func() bool
	closed bool
}

// on watches ctx in place of what was watched before.
func (w *watch) on(ctx context.Context, f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	done := ctx.Done()
	if done == w.done || w.closed {
		return
	}
	w.offLocked()
	if done != nil {
		w.done, w.stop = done, context.AfterFunc(ctx, f)
	}
}

// close ends the watching for good.
func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.offLocked()
}

func (w *watch) offLocked() {
	if w.stop != nil {
		w.stop()
	}
	w.stop, w.done = nil, nil
}
