package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
)

// dialer makes one connection after another, with a pause before each but the first.
type dialer struct {
	address string
	config  *Config
	request *native.Subscribe // nil: for publishing

	pause time.Duration // before the next attempt, at most
	since time.Time     // when the last connection was made
}

// pauseBefore answers the next pause. A connection that lasted longer than any pause has
// shown that the server is well, and the pauses start again.
func (d *dialer) pauseBefore(now time.Time) time.Duration {
	r := &d.config.Reconnect
	if d.pause == 0 || now.Sub(d.since) > r.Max {
		d.pause = r.Min
	}
	pause := d.pause - rand.N(d.pause/2+1)
	d.pause = min(2*d.pause, r.Max)
	return pause
}

// first makes the first connection.
func (d *dialer) first(ctx context.Context) (*link, error) {
	l, err := dial(ctx, d.address, d.config, d.request)
	d.since = time.Now()
	return l, err
}

// again replaces a connection that cause has ended. Its error is cause, or what has made
// it give up.
func (d *dialer) again(ctx context.Context, cause error) (*link, error) {
	r := &d.config.Reconnect
	if r.Disabled || permanent(cause) {
		return nil, cause
	}
	for attempts := 1; ; attempts++ {
		timer := time.NewTimer(d.pauseBefore(time.Now()))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ErrClosed
		}
		l, err := d.first(ctx)
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, ErrClosed
		case permanent(err):
			return nil, err
		case attempts == r.MaxAttempts:
			return nil, fmt.Errorf("after %d attempts: %w", attempts, err)
		}
	}
}
