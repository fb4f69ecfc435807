package client

import (
	"context"
	"errors"
	"time"
)

// fill reads once behind what is left of the buffer. It may wait until ctx is done, if that
// is being watched.
func (s *Subscription) fill(ctx context.Context, wait bool) (got int, err error) {
	d := &s.decoder
	b := s.room(&s.buf)
	n := len(d.rest)
	if w, ok := s.socket.(waiter); ok && wait {
		w.setReadDeadline(s.quiet.deadline(time.Now()))
		if ctx.Err() != nil { // it was done before the deadline replaced that of interrupt
			return 0, nil
		}
		got, err = w.wait(b[n:])
	} else {
		got, err = s.socket.read(b[n:])
	}
	d.rest = b[:n+got]
	return got, s.heard(got, err, time.Now())
}

// room moves what is left to the front of a read buffer, and makes that larger where a
// frame needs it to be.
func (s *Subscription) room(buf *[]byte) []byte {
	d, b := &s.decoder, *buf
	if len(b) <= len(d.rest) {
		size := max(s.client.config.ReadBytes, 2*len(b))
		for size <= len(d.rest) {
			size *= 2
		}
		b = make([]byte, size)
	}
	copy(b, d.rest)
	d.rest = b[:len(d.rest)]
	*buf = b
	return b
}

// heard judges what a read has answered: it asks the server for an echo after a long
// silence, and answers why the connection has ended, if it has.
func (s *Subscription) heard(got int, err error, now time.Time) error {
	if got > 0 {
		s.quiet.hear(now)
		return nil
	}
	if !errors.Is(err, errAgain) {
		return err
	}
	ask, err := s.quiet.check(now)
	if ask {
		s.decoder.ask()
		s.answer()
	}
	return err
}
