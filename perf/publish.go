package perf

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/perf/load"
)

const (
	// stageBytes bounds what is prepared for one call of a publisher, so that it stays in the
	// nearest cache.
	stageBytes = 32 << 10
	// inPlace is the payload from which messages are written in place: a copy less.
	inPlace = 4 << 10
)

// target takes messages, in order, and waits where there is back pressure.
type target interface {
	// put publishes payloads.
	put(ctx context.Context, payloads [][]byte) error
	// flush comes back when everything has been handed over.
	flush(ctx context.Context) error
}

// flow is what a publisher does: so many messages, or as many as there is time for, as fast
// as they go or each at its time.
type flow struct {
	pattern  *load.Pattern
	form     form
	messages uint64 // 0: until duration is over
	duration time.Duration
	rate     float64
	batch    int
	clock    load.Clock
	// subscribers get the messages; their number says whether there is a core to spare.
	subscribers int

	published atomic.Uint64 // so far
	started   int64         // on the clock, when the first message was made
	late      time.Duration // open loop: the most that one was late
}

// run publishes through to.
func (f *flow) run(ctx context.Context, to target) error {
	f.started = f.clock.Now()
	var err error
	if f.rate > 0 {
		err = f.pace(ctx, to)
	} else {
		err = f.flood(ctx, to)
	}
	if err != nil {
		return err
	}
	return to.flush(ctx)
}

// fill makes the payload of message n, which was due at a time.
func (f *flow) fill(b []byte, n uint64, due int64) {
	switch f.form {
	case stamped:
		f.pattern.PutStamped(b, n, due)
	case countdown:
		f.pattern.PutCountdown(b, uint32(f.messages+1-n))
	default:
		f.pattern.Put(b, n)
	}
}

// flood publishes as fast as to takes messages.
func (f *flow) flood(ctx context.Context, to target) error {
	if e, ok := to.(*embedded); ok && f.pattern.Size() >= inPlace {
		return f.floodInPlace(ctx, e)
	}
	size := f.pattern.Size()
	stage := make([]byte, min(f.batch, max(1, stageBytes/size))*size)
	var payloads [][]byte
	for at := 0; at < len(stage); at += size {
		payloads = append(payloads, stage[at:at+size:at+size])
	}
	end := time.Now().Add(f.duration)
	for n := uint64(0); f.messages == 0 || n < f.messages; {
		if f.messages == 0 && time.Now().After(end) {
			return nil
		}
		now := payloads
		if left := f.messages - n; f.messages > 0 && left < uint64(len(now)) {
			now = now[:left]
		}
		for _, b := range now {
			n++
			f.fill(b, n, 0)
		}
		if err := to.put(ctx, now); err != nil {
			return err
		}
		f.published.Store(n)
	}
	return nil
}

// floodInPlace is flood without a copy: payloads are written where they stay.
func (f *flow) floodInPlace(ctx context.Context, to *embedded) error {
	spare := make([]byte, f.pattern.Size())
	end := time.Now().Add(f.duration)
	for n := uint64(1); f.messages == 0 || n <= f.messages; n++ {
		if f.messages == 0 && time.Now().After(end) {
			return nil
		}
		claim, err := to.publisher.Claim(f.pattern.Size())
		switch {
		case errors.Is(err, engine.ErrBackPressure):
			f.fill(spare, n, 0)
			err = to.publisher.PublishContext(ctx, spare)
		case err == nil:
			f.fill(claim.Bytes(), n, 0)
			err = claim.Commit()
		}
		if err != nil {
			return fmt.Errorf("perf: publish: %w", err)
		}
		f.published.Store(n)
	}
	return nil
}

// pace publishes each message at its time, or as soon after as to takes it: the payload says
// when it was due, so that nothing that delays the publisher is left out.
func (f *flow) pace(ctx context.Context, to target) error {
	total := f.messages
	if total == 0 {
		total = uint64(f.rate * f.duration.Seconds())
	}
	payloads := [][]byte{make([]byte, f.pattern.Size())}
	pacer := load.NewPacer(f.clock, f.rate, f.spin())
	defer pacer.Close()
	for n := uint64(1); n <= total; n++ {
		due, ok := pacer.Wait(ctx)
		if !ok {
			return context.Cause(ctx)
		}
		f.fill(payloads[0], n, due)
		if err := to.put(ctx, payloads); err != nil {
			return err
		}
		f.published.Store(n)
	}
	f.late = pacer.Late()
	return nil
}

// spareDeliveries is the load, in deliveries a second and core, from which a spinning
// publisher takes what the server and its subscribers need.
const spareDeliveries = 50_000

// spin is how long the publisher may spin before each message.
func (f *flow) spin() time.Duration {
	if f.rate*float64(f.subscribers) > spareDeliveries*float64(runtime.NumCPU()) {
		return 0
	}
	return load.Oversleep
}

// theEnd is the message without a payload that ends a run.
var theEnd = [][]byte{{}}

// embedded is a publisher in the server's own process.
type embedded struct{ publisher *engine.Publisher }

func (e *embedded) put(ctx context.Context, payloads [][]byte) error {
	for len(payloads) > 0 {
		n, err := e.publisher.PublishBatch(payloads)
		payloads = payloads[n:]
		if err == nil {
			continue
		}
		if err != engine.ErrBackPressure {
			return fmt.Errorf("perf: publish: %w", err)
		}
		if err := e.publisher.PublishContext(ctx, payloads[0]); err != nil {
			return fmt.Errorf("perf: publish: %w", err)
		}
		payloads = payloads[1:]
	}
	return nil
}

func (e *embedded) flush(context.Context) error { return nil }
