package load

import (
	"context"
	"runtime"
	"time"
)

// Pacer says when messages are due, at fixed times, whatever happened to the ones before:
// an open loop. It belongs to one goroutine, locked to its thread from NewPacer to Close.
type Pacer struct {
	clock    Clock
	start    int64
	interval float64 // nanoseconds
	spin     time.Duration
	n        int64
	late     int64 // the most that Wait came after the due time
}

const (
	// Oversleep is what a sleep on this kind of machine oversleeps: the spin that makes a
	// pacer punctual.
	Oversleep = 60 * time.Microsecond
	// nap bounds a sleep, so that the end of a context is noticed.
	nap = 20 * time.Millisecond
)

// NewPacer answers a pacer of perSecond messages a second, over 0; the first is due now. It
// spins for the last part of each wait: Oversleep, where there is a core to spare for it, or
// 0, which makes messages some 50 µs late, and the lateness counts.
func NewPacer(clock Clock, perSecond float64, spin time.Duration) *Pacer {
	runtime.LockOSThread()
	fineTimers()
	return &Pacer{clock: clock, start: clock.Now(), interval: 1e9 / perSecond, spin: spin}
}

// Due is when the message after the last Wait is due, on the clock's line.
func (p *Pacer) Due() int64 { return p.start + int64(float64(p.n)*p.interval) }

// Wait waits for the next message's due time, and answers it. It returns at once where that
// has passed. It sleeps while it can, and spins for the last part, since a sleeper wakes up
// too late; ok is false when the context has ended.
func (p *Pacer) Wait(ctx context.Context) (due int64, ok bool) {
	due = p.Due()
	p.n++
	now := p.clock.Now()
	for now < due {
		switch left := time.Duration(due - now); {
		case left > p.spin:
			sleep(min(left-p.spin, nap))
			if ctx.Err() != nil {
				return due, false
			}
		default:
			safePoint()
		}
		now = p.clock.Now()
	}
	p.late = max(p.late, now-due)
	return due, true
}

// Late is the most that a message was late because its publisher was not there in time.
func (p *Pacer) Late() time.Duration { return time.Duration(p.late) }

// Close unlocks the thread.
func (p *Pacer) Close() { runtime.UnlockOSThread() }

// safePoint is a call: a loop of nothing but readings of the clock is hard to preempt, and
// the garbage collector would wait for it.
//
//go:noinline
func safePoint() {}
