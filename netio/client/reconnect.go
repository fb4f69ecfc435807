package client

import "time"

// attach takes a new connection where there is one. It answers the end, where that is it.
// as is subOpen, or subGrouped for the group's goroutine.
func (s *Subscription) attach(as uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state := s.state.Load(); {
	case state == subClosed:
		return ErrClosed
	case state != as:
		return ErrGrouped
	case s.mu.err != nil:
		return s.mu.err
	case s.mu.fresh == nil:
		return nil
	}
	l := s.mu.fresh
	s.mu.fresh = nil
	w, err := newSocket(l.conn)
	if err != nil {
		l.rest()
		l.conn.Close()
		s.mu.err = &ConnectionError{Address: s.client.address, Op: "read", Err: err}
		return s.mu.err
	}
	s.connect(l, w)
	s.mu.socket = w
	return nil
}

// connect begins to read a new connection. The polling goroutine's, with mu held.
func (s *Subscription) connect(l *link, with socket) {
	s.decoder.connect(s.streams == 0, s.stream == l.welcome.StreamID, l.next)
	s.decoder.rest = l.rest()
	s.quiet = silence{timeout: l.timeout, heard: time.Now()}
	s.socket, s.stream = with, l.welcome.StreamID
	if s.streams > 0 {
		s.reconnects.Inc()
	}
	s.streams++
}

// broken ends the connection, and starts to make another. The polling goroutine's.
func (s *Subscription) broken(why error) {
	cause := &ConnectionError{Address: s.client.address, Op: "read", Err: why}
	s.socket.close()
	s.socket, s.decoder.rest = nil, nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.socket = nil
	switch {
	case s.state.Load() == subClosed || s.mu.err != nil:
	case s.client.config.Reconnect.Disabled || permanent(cause):
		s.mu.err = cause
	default:
		s.running.Go(func() { s.reconnect(cause) })
	}
}

// reconnect makes another connection for the polling goroutine to take.
func (s *Subscription) reconnect(cause error) {
	l, err := s.dialer.again(s.ctx, cause)
	s.mu.Lock()
	closed := s.state.Load() == subClosed
	group := s.mu.group
	if !closed {
		s.mu.fresh, s.mu.err = l, err
	}
	s.mu.Unlock()
	if closed && l != nil {
		l.rest()
		l.conn.Close()
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
	if group != nil {
		group.backend.change(s)
	}
}

// Close ends the subscription and its connection; a PollContext under way in another
// goroutine answers ErrClosed. It may be called from any goroutine, and from the function
// that is handed messages. It is idempotent.
func (s *Subscription) Close() error {
	s.mu.Lock()
	if s.state.Swap(subClosed) == subClosed {
		s.mu.Unlock()
		return nil
	}
	s.cancel()
	if s.mu.socket != nil {
		s.mu.socket.close()
		s.mu.socket = nil
	}
	if l := s.mu.fresh; l != nil {
		l.rest()
		l.conn.Close()
		s.mu.fresh = nil
	}
	group := s.mu.group
	s.mu.Unlock()
	s.watch.close()
	if group != nil {
		group.backend.change(s)
	}
	s.running.Wait()
	c := s.client
	c.mu.Lock()
	delete(c.mu.subs, s)
	c.mu.Unlock()
	return nil
}
