package client

import (
	"errors"
	"fmt"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
)

// Errors that callers compare with errors.Is. ErrBackPressure, ErrTooLarge and ErrClosed
// are flow, and are answered bare. What a server refuses is a *native.Error, and Is the
// sentinel of its code.
var (
	// ErrBackPressure says that both batches are full: try again later.
	ErrBackPressure = ring.ErrBackPressure
	// ErrTooLarge says that a payload is longer than Client.MaxPayload.
	ErrTooLarge = ring.ErrTooLarge
	// ErrClosed says that the client, publisher, subscription or group was closed.
	ErrClosed = ring.ErrClosed
	// ErrConnection is what every *ConnectionError Is.
	ErrConnection = errors.New("client: no connection")
	// ErrLost is what every *LostError Is.
	ErrLost = errors.New("client: messages may be lost")
	// ErrGrouped says that a subscription is polled by its group, and in no other way.
	ErrGrouped = errors.New("client: the subscription belongs to a group")
	// ErrTooMany says that a group has MaxMembers subscriptions.
	ErrTooMany = errors.New("client: too many")
)

// errSilent is a peer from which nothing came for too long.
var errSilent = errors.New("the server has been silent for too long")

// ConnectionError is a connection that could not be made, or that was lost. It Is
// ErrConnection.
type ConnectionError struct {
	Address string
	Op      string // "dial", "handshake", "read" or "write"
	Err     error
}

// Error says what was done, with whom, and what happened.
func (e *ConnectionError) Error() string {
	return fmt.Sprintf("client: %s %s: %v", e.Op, e.Address, e.Err)
}

// Is reports whether target is ErrConnection.
func (e *ConnectionError) Is(target error) bool { return target == ErrConnection }

// Unwrap is what happened.
func (e *ConnectionError) Unwrap() error { return e.Err }

// LostError says that a connection ended with messages on their way. It Is ErrLost.
type LostError struct {
	// Messages is how many may not have reached the server: at most so many, and the ones
	// published last before the connection ended.
	Messages uint64
	Err      error // why it ended
}

// Error says how many, and why.
func (e *LostError) Error() string {
	return fmt.Sprintf("client: up to %d messages may be lost: %v", e.Messages, e.Err)
}

// Is reports whether target is ErrLost.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// Unwrap is why the connection ended.
func (e *LostError) Unwrap() error { return e.Err }

// MemberError says which member of a Group has ended, and why.
type MemberError struct {
	Subscription *Subscription
	Err          error
}

// Error says which, and why.
func (e *MemberError) Error() string {
	return fmt.Sprintf("client: subscription to %s: %v", e.Subscription.Pattern(), e.Err)
}

// Unwrap is why it ended.
func (e *MemberError) Unwrap() error { return e.Err }

// permanent reports whether trying again could not help.
func permanent(err error) bool {
	var e *native.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case native.CodeNone, native.CodeTooManyConnections, native.CodeShuttingDown,
		native.CodeIdleTimeout, native.CodeHandshakeTimeout, native.CodeInternal:
		return false
	}
	return true
}
