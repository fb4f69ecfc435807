package client

import "time"

// silence tells a quiet peer from a dead one. It is a state machine without a clock.
type silence struct {
	timeout time.Duration
	heard   time.Time // when bytes last came
	asked   time.Time // when the peer was asked since then; zero: not yet
}

// hear says that bytes have come.
func (s *silence) hear(now time.Time) { s.heard, s.asked = now, time.Time{} }

// check answers whether the peer must be asked for an echo now, or that it is dead.
func (s *silence) check(now time.Time) (ask bool, err error) {
	switch {
	case now.Before(s.next()):
		return false, nil
	case s.asked.IsZero():
		s.asked = now
		return true, nil
	}
	return false, errSilent
}

// next is when check has something to say again.
func (s *silence) next() time.Time {
	if s.asked.IsZero() {
		return s.heard.Add(s.timeout / 2)
	}
	return s.asked.Add(s.timeout / 2)
}

// deadline is until when to wait: next, but not so early that what is there is not read.
func (s *silence) deadline(now time.Time) time.Time {
	next := s.next()
	if least := now.Add(time.Millisecond); next.Before(least) {
		return least
	}
	return next
}
