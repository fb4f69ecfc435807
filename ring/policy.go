package ring

import (
	"errors"
	"fmt"
	"time"
)

// PolicyKind is what happens when a subscriber cannot keep up. Values travel on the wire.
type PolicyKind uint8

// The policies. No policy but Wait and WaitFor may slow a publisher or another subscriber.
const (
	// PolicyDefault stands for the default of whoever serves the subscription.
	PolicyDefault PolicyKind = iota
	// PolicyWait gates the publisher: nothing is lost.
	PolicyWait
	// PolicyWaitFor gates the publisher for a time, then goes on as DropOldest.
	PolicyWaitFor
	// PolicyDropNewest keeps the queue and drops what would not fit.
	PolicyDropNewest
	// PolicyDropOldest drops from the head of the queue to make room.
	PolicyDropOldest
	// PolicyConflate keeps the newest message of each topic.
	PolicyConflate
	// PolicySpill goes on from the journal.
	PolicySpill
	// PolicyDisconnect ends the subscription, with a reason.
	PolicyDisconnect
)

var policyNames = [...]string{"default", "wait", "wait-for", "drop-newest", "drop-oldest",
	"conflate", "spill", "disconnect"}

// String is the policy's name as commands and reports write it.
func (k PolicyKind) String() string {
	if int(k) < len(policyNames) {
		return policyNames[k]
	}
	return fmt.Sprintf("policy(%d)", uint8(k))
}

// ParsePolicyKind is the inverse of String.
func ParsePolicyKind(name string) (PolicyKind, error) {
	for i, n := range policyNames {
		if n == name {
			return PolicyKind(i), nil
		}
	}
	return 0, fmt.Errorf("ring: no policy is called %q; there are %v", name, policyNames[1:])
}

// Policy is a subscriber's answer to being slow: a kind and its bounds.
type Policy struct {
	Kind PolicyKind
	// MaxLag bounds the messages queued for the subscriber before the policy applies.
	// Zero: DefaultMaxLag. It has no meaning for Wait, WaitFor and Conflate.
	MaxLag uint32
	// For is how long WaitFor gates the publisher. At least 1 ms, at most 1 h.
	For time.Duration
}

const (
	// DefaultMaxLag is the queue, in messages, of a policy that names none: 65,536.
	DefaultMaxLag = 65_536
	// MaxMaxLag is the longest queue, in messages, that a policy may ask for: 16,777,216.
	MaxMaxLag = 1 << 24
)

// ErrNotSupported is what a feature that this build or machine lacks answers.
var ErrNotSupported = errors.New("ring: not supported")

// Check answers an error where p cannot be served; the zero Policy can.
func (p Policy) Check() error {
	switch {
	case p.Kind == PolicySpill:
		return fmt.Errorf("%w: policy spill needs a journal", ErrNotSupported)
	case p.Kind > PolicyDisconnect:
		return fmt.Errorf("ring: unknown policy %d", uint8(p.Kind))
	case p.MaxLag > MaxMaxLag:
		return fmt.Errorf("ring: MaxLag %d is over the limit of %d messages", p.MaxLag, MaxMaxLag)
	case p.Kind == PolicyWaitFor && (p.For < time.Millisecond || p.For > time.Hour):
		return fmt.Errorf("ring: WaitFor %v is outside 1ms to 1h", p.For)
	}
	return nil
}

// GapReason is why a subscriber misses messages. Values travel on the wire.
type GapReason uint8

// The reasons of a gap.
const (
	GapNone       GapReason = iota
	GapDropOldest           // its queue was full, and gave up its head
	GapDropNewest           // its queue was full, and took no more
	GapLapped               // the stream needed the memory that the subscriber had not read
	GapConflated            // newer messages of the same topics took their place
	GapReconnect            // messages published while the client was not connected
	GapExpired              // a publisher held a claim for too long, and lost it

	// GapReasons is how many reasons there are.
	GapReasons = iota
)

var gapNames = [...]string{"none", "drop-oldest", "drop-newest", "lapped", "conflated",
	"reconnect", "expired"}

// String is the reason's name as counters and reports write it.
func (r GapReason) String() string {
	if int(r) < len(gapNames) {
		return gapNames[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Gap is a hole in what a subscriber gets: no message of it with a sequence from First to
// Last will come. Count is how many messages it lost; where the subscriber was lapped
// before anybody matched them against its pattern, Count is Last-First+1.
type Gap struct {
	First, Last uint64
	Count       uint64
	Reason      GapReason
}
