package load

import (
	"context"
	"time"
)

// A Publisher is a peer's way to publish on Topic. One goroutine uses it.
type Publisher interface {
	// Publish takes a message, waiting while the peer takes none; b is the caller's again
	// when it returns.
	Publish(ctx context.Context, b []byte) error
	// Send lets what was published leave now. It is called where the next message is not due
	// yet.
	Send(ctx context.Context) error
	// Finish returns when everything published has reached the broker, or, where there is no
	// way to know, has been sent.
	Finish(ctx context.Context) error
	Close() error
}

// Published is what the publisher's side says.
type Published struct {
	Messages int `json:"messages"`
	// FirstNanos is just before the first message, LastNanos just after the last was taken.
	FirstNanos int64 `json:"first_ns"`
	LastNanos  int64 `json:"last_ns"`
	// Late is how long after its due time each message was published: the load generator's
	// own share of the latencies, and the peer's back pressure.
	Late Bars `json:"late,omitempty"`
}

// lookEvery is how many messages go between two looks at the clock.
const lookEvery = 64

// Publish does the publisher's part of w.
func Publish(ctx context.Context, w Workload, p Publisher) (Published, error) {
	if w.Rate > 0 {
		pace := newPacer()
		defer pace.close()
		return publishPaced(ctx, w, p, pace.until)
	}
	b := NewPayload(w.Bytes)
	total, known := w.Total()
	start := time.Now()
	r := Published{FirstNanos: start.UnixNano()}
	for last := false; !last; {
		r.Messages++
		if r.Messages%lookEvery == 0 {
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			last = !known && time.Since(start) > w.duration()
		}
		remaining := uint32(2)
		switch {
		case known:
			remaining = uint32(total - r.Messages + 1)
			last = remaining == 1
		case r.Messages == MaxMessages:
			last = true
		}
		if last {
			remaining = 1
		}
		Put(b, remaining, uint32(r.Messages), 0)
		if err := p.Publish(ctx, b); err != nil {
			return r, err
		}
	}
	r.LastNanos = time.Now().UnixNano()
	return r, p.Finish(ctx)
}

// warmUpShare is the part of a paced run whose latencies are not recorded: a tenth.
const warmUpShare = 10

// publishPaced publishes at w.Rate; until waits for a time.
func publishPaced(ctx context.Context, w Workload, p Publisher, until func(time.Time)) (Published,
	error) {
	total, _ := w.Total()
	b, late := NewPayload(w.Bytes), NewLatencies()
	start := time.Now().Add(time.Millisecond)
	r := Published{FirstNanos: start.UnixNano()}
	for r.Messages < total {
		after := time.Duration(float64(r.Messages) / float64(w.Rate) * float64(time.Second))
		if wait := after - time.Since(start); wait > 0 {
			if err := p.Send(ctx); err != nil {
				return r, err
			}
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			until(start.Add(after))
			continue
		}
		due := r.FirstNanos + int64(after)
		if r.Messages < total/warmUpShare {
			due = 0
		} else {
			late.Record(time.Now().UnixNano() - due)
		}
		Put(b, uint32(total-r.Messages), uint32(r.Messages+1), due)
		if err := p.Publish(ctx, b); err != nil {
			return r, err
		}
		r.Messages++
	}
	r.LastNanos, r.Late = time.Now().UnixNano(), late.Bars()
	return r, p.Finish(ctx)
}
