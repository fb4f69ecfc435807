//go:build !linux

package uring

var errNoUring = &UnsupportedError{Feature: "io_uring", MinKernel: minKernel}

// Probe is not supported here.
func Probe() error { return errNoUring }

// Ring is not supported here: there is none.
type Ring struct{}

// New is not supported here.
func New(c Config) (*Ring, error) {
	if _, err := c.withDefaults(); err != nil {
		return nil, err
	}
	return nil, errNoUring
}

// Entries is 0.
func (r *Ring) Entries() int { return 0 }

// Files is 0.
func (r *Ring) Files() int { return 0 }

// Calls is 0.
func (r *Ring) Calls() uint64 { return 0 }

// RegisterFile is not supported here.
func (r *Ring) RegisterFile(slot, fd int) error { return errNoUring }

// Unregister is not supported here.
func (r *Ring) Unregister(slot int) error { return errNoUring }

// PrepSend is not supported here.
func (r *Ring) PrepSend(slot int, b []byte, userData uint64) error { return errNoUring }

// PrepSendmsg is not supported here.
func (r *Ring) PrepSendmsg(slot int, pieces []Iovec, userData uint64) error { return errNoUring }

// SubmitAndReap is not supported here.
func (r *Ring) SubmitAndReap(fn func(userData uint64, result int32)) (calls int, err error) {
	return 0, errNoUring
}

// Close has nothing to close.
func (r *Ring) Close() error { return nil }

// Sender is not supported here: there is none.
type Sender struct{}

// NewSender is not supported here.
func NewSender(c Config) (*Sender, error) {
	_, err := New(c)
	return nil, err
}

// Name is "uring".
func (s *Sender) Name() string { return "uring" }

// Open is not supported here.
func (s *Sender) Open(slot, fd int) error { return errNoUring }

// Close has nothing to close.
func (s *Sender) Close(slot int) {}

// Queue does nothing here.
func (s *Sender) Queue(slot int, views [][]byte) {}

// Flush does nothing here.
func (s *Sender) Flush(done func(slot int, n int, err error)) (calls int) { return 0 }

// Fallbacks is 0.
func (s *Sender) Fallbacks() uint64 { return 0 }

// Release has nothing to release.
func (s *Sender) Release() error { return nil }
