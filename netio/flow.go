package netio

import (
	"github.com/valyala/bytebufferpool"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// follow takes messages from the stream and queues them for the connections that want
// them, run by run: messages side by side that go to the same connections are one range.
func (s *Shard) follow() (worked bool) {
	if len(s.to) > 0 && !s.deliver() {
		return false
	}
	s.follower.Acquire()
	var (
		r        run
		set      []*Conn
		followed uint64
	)
	for budget := s.config.FollowBytes; budget > 0; {
		m, ok := s.follower.Read()
		if !ok {
			break
		}
		followed++
		bytes := uint32(frame.Aligned(int(m.Length)))
		budget -= int(bytes)
		to := s.config.Route(m.Topic)
		if sameSet(to, set) && m.Block == r.block && m.Offset == r.offset+r.bytes &&
			m.Sequence == r.first+uint64(r.count) {
			r.bytes += bytes
			r.count++
			continue
		}
		next := run{block: m.Block, first: m.Sequence, offset: m.Offset, bytes: bytes, count: 1}
		if len(set) > 0 {
			s.pending, s.to = r, set
			if !s.deliver() {
				// The message just read must wait for the run before it.
				s.after(next, to)
				set = nil
				break
			}
		}
		r, set = next, to
	}
	if len(set) > 0 {
		s.pending, s.to = r, set
		s.deliver()
	}
	s.stats.followed.Add(followed)
	return followed > 0
}

func sameSet(a, b []*Conn) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// deliver offers the pending run to everybody who still has to get it, and reports whether
// all have.
func (s *Shard) deliver() bool {
	for len(s.to) > 0 {
		if !s.to[0].offer(&s.pending) {
			return false
		}
		s.to = s.to[1:]
	}
	s.pending = run{}
	if len(s.behind) > 0 {
		s.pending, s.to = s.behindRun, s.behind
		s.behind = nil
		return s.deliver()
	}
	return true
}

// after keeps one more run, behind the pending one.
func (s *Shard) after(r run, to []*Conn) {
	if len(to) > 0 {
		s.behindRun, s.behind = r, to
	}
}

// receive reads the connections that have something, and hands it to their sessions.
func (s *Shard) receive() (worked bool) {
	kept := s.ready[:0]
	for _, c := range s.ready {
		if c.paused && s.resume(c) {
			worked = true
		}
		for range readRounds {
			if !c.readable || !c.listening() {
				break
			}
			worked = true
			s.read(c)
		}
		if c.paused || c.readable && c.listening() {
			kept = append(kept, c)
			continue
		}
		c.ready = false
	}
	clear(s.ready[len(kept):])
	s.ready = kept
	return worked
}

// listening reports whether what the connection sends is wanted now.
func (c *Conn) listening() bool {
	return !c.paused && !c.gone && c.finish == nil && c.owed <= owedMax
}

// canRead notes that there may be something to read.
func (s *Shard) canRead(c *Conn) {
	c.readable = true
	if !c.ready && !c.gone {
		c.ready = true
		s.ready = append(s.ready, c)
	}
}

// read reads once and hands on what there is.
func (s *Shard) read(c *Conn) {
	b, have := s.buffer, 0
	if c.in != nil {
		// A unit may be longer than the buffer; how long, the sessions bound.
		if 2*len(c.in.B) > len(b) {
			s.buffer = make([]byte, 2*len(b))
			b = s.buffer
		}
		have = copy(b, c.in.B)
	}
	n, err := s.io.read(c, b[have:])
	if n > 0 {
		c.stats.received.Add(uint64(n))
		s.stats.received.Add(uint64(n))
		s.hand(c, b[:have+n])
		if have+n < len(b) && err == nil && !c.ending {
			c.readable = false // the socket was emptied; epoll tells of more
		}
	}
	switch err {
	case nil:
	case errAgain:
		c.readable = false
	default:
		s.drop(c, err)
	}
}

// hand gives bytes to the session and keeps what it leaves.
func (s *Shard) hand(c *Conn, b []byte) {
	c.answering = true
	n, err := c.session.Receive(b)
	c.answering = false
	if c.gone {
		return
	}
	switch {
	case err == ring.ErrBackPressure:
		if !c.paused && n < len(b) {
			c.paused = true
			s.paused++
		}
	case err != nil:
		c.Finish(err)
		n = len(b)
	}
	s.keep(c, b[n:])
}

// keep stores the bytes that a session has not taken. b may alias what is stored.
func (s *Shard) keep(c *Conn, b []byte) {
	if len(b) == 0 {
		if c.in != nil {
			bytebufferpool.Put(c.in)
			c.in = nil
		}
		return
	}
	if c.in == nil {
		c.in = bytebufferpool.Get()
	}
	c.in.B = append(c.in.B[:0], b...)
}

// resume tries the bytes of a paused connection again.
func (s *Shard) resume(c *Conn) (worked bool) {
	c.paused = false
	s.paused--
	before := len(c.in.B)
	s.hand(c, c.in.B)
	return c.gone || c.in == nil || len(c.in.B) < before
}

// submit sends what is queued, in one batch for all connections.
func (s *Shard) submit() (worked bool) {
	if len(s.dirty) == 0 {
		return false
	}
	s.used = 0
	queued := 0
	for _, c := range s.dirty {
		if c.gone || !c.writable {
			continue
		}
		if s.used+s.config.SubmitBytes > len(s.scratch) {
			s.flush()
			s.used = 0
		}
		if s.prepare(c) {
			queued++
		}
	}
	if queued > 0 {
		s.flush()
	}
	kept := s.dirty[:0]
	for _, c := range s.dirty {
		switch {
		case c.gone:
		case !c.idle():
			kept = append(kept, c)
			continue
		case c.finish != nil:
			s.drop(c, c.finish)
		}
		c.dirty, c.gating = false, 0 // it has caught up
	}
	clear(s.dirty[len(kept):])
	s.dirty = kept
	return queued > 0
}

func (s *Shard) flush() {
	s.stats.syscalls.Add(uint64(s.sender.Flush(s.report)))
}

// prepare queues one submission of c, and reports whether there is one.
func (s *Shard) prepare(c *Conn) bool {
	c.views = c.views[:0]
	if c.gap.Count > 0 {
		g := c.gap
		c.gap = ring.Gap{}
		c.stage(func(dst []byte) []byte { return c.session.AppendGap(dst, g) })
	}
	if c.stash != nil {
		s.unstash(c)
	}
	c.offered = 0
	if c.out != nil && c.sent < len(c.out.B) {
		c.views = append(c.views, c.out.B[c.sent:])
		c.offered = len(c.out.B) - c.sent
	}
	if c.ring != nil {
		s.ranges = c.ring.Ranges(s.ranges[:0])
		s.gather(c, s.ranges)
	}
	if c.offered == 0 {
		return false
	}
	s.sender.Queue(c.slot, c.views)
	return true
}

// gather turns ranges into views: one that is large, or alone, is a view of its block;
// small ones are copied side by side, which costs less than an I/O vector each.
func (s *Shard) gather(c *Conn, ranges []ring.Range) {
	open := -1 // the scratch view that may still grow
	for i := range ranges {
		room := c.submitMax - c.offered
		if room <= 0 {
			return
		}
		view := ranges[i].View()
		if len(view) > room {
			view = view[:room:room]
		}
		c.offered += len(view)
		if len(view) >= gatherBytes || len(ranges) == 1 {
			if len(c.views) == viewsMax {
				c.offered -= len(view)
				return
			}
			c.views = append(c.views, view)
			open = -1
			continue
		}
		if open < 0 {
			if len(c.views) == viewsMax {
				c.offered -= len(view)
				return
			}
			open = len(c.views)
			c.views = append(c.views, s.scratch[s.used:s.used])
		}
		n := copy(s.scratch[s.used:], view)
		s.used += n
		c.views[open] = c.views[open][:len(c.views[open])+n]
	}
}

// unstash stages some of what is stashed, once what was staged before is sent.
func (s *Shard) unstash(c *Conn) {
	if c.out != nil && c.sent < len(c.out.B) {
		return
	}
	c.release()
	for n := 0; ; {
		// Also behind the last message: nothing may come after it to be the occasion.
		for g := c.stash.TakeGap(); g.Count > 0; g = c.stash.TakeGap() {
			if g.Reason == ring.GapConflated {
				c.stats.dropped[g.Reason].Add(g.Count)
			}
			c.stage(func(dst []byte) []byte { return c.session.AppendGap(dst, g) })
		}
		view := c.stash.View()
		if view == nil || n >= s.config.SubmitBytes {
			return
		}
		n += len(view)
		if c.out == nil {
			c.out = bytebufferpool.Get()
		}
		c.out.B = append(c.out.B, view...)
		c.stash.Pop()
	}
}

// release gives the staging buffer back.
func (c *Conn) release() {
	if c.out != nil {
		bytebufferpool.Put(c.out)
		c.out, c.sent, c.control, c.owed = nil, 0, 0, 0
	}
	if c.gone && c.in != nil {
		bytebufferpool.Put(c.in)
		c.in = nil
	}
}

// sent is the sender's report for one connection.
func (s *Shard) sent(slot int, n int, err error) {
	c := s.conns[slot]
	if c == nil {
		return
	}
	offered := c.offered
	c.offered = 0
	if err != nil {
		s.drop(c, err)
		return
	}
	s.stats.submits.Inc()
	s.stats.sent.Add(uint64(n))
	s.stats.sizes[sizeClass(n)].Inc()
	c.stats.submits.Inc()
	c.stats.bytes.Add(uint64(n))
	if n < offered {
		c.writable = false
		c.stats.stalls.Inc()
		s.stats.stalls.Inc()
	}
	if c.out != nil {
		staged := min(n, len(c.out.B)-c.sent)
		c.sent += staged
		n -= staged
		if c.sent == len(c.out.B) {
			c.release()
			if c.readable { // perhaps nothing was read while too much was owed
				s.canRead(c)
			}
		}
	}
	if n > 0 && c.ring != nil {
		c.ring.Consume(uint32(n))
	}
}
