package ring

import (
	"runtime"
	"slices"

	"github.com/fantail-io/fantail/ring/invariant"
)

// roll replaces full, the block that its caller found full, by a fresh one. A nil error
// means: look again.
func (s *Stream) roll(full *Block) error {
	if s.closed.Load() {
		return ErrClosed
	}
	s.mu.Lock()
	if s.closed.Load() {
		s.mu.Unlock()
		return ErrClosed
	}
	if s.current.Load() != full {
		s.mu.Unlock()
		return nil
	}
	sealed := full.sealed.Load()
	if sealed == 0 { // another claim has just filled it, and has not said so yet
		s.mu.Unlock()
		runtime.Gosched()
		return nil
	}
	s.reclaim(s.clock())
	if len(s.mu.free) == 0 {
		s.mu.stats.BackPressure++
		news := !s.full.Swap(true)
		s.mu.Unlock()
		if news {
			s.readers.Wake()
		}
		return ErrBackPressure
	}
	s.install(full.number.Load()+1, full.base.Load()+uint64(sealed-1))
	s.mu.Unlock()
	return nil
}

// install opens a free block. Under mu.
func (s *Stream) install(number, base uint64) {
	b := s.mu.free[len(s.mu.free)-1]
	s.mu.free = s.mu.free[:len(s.mu.free)-1]
	b.open(number, base)
	s.directory[number&uint64(len(s.directory)-1)].Store(b) // pairs(directory)
	b.tail.Store(0)                                         // pairs(tail): claims may come
	s.current.Store(b)
	s.full.Store(false)
	s.mu.stats.Rolls++
}

// reclaim frees blocks. First those that everybody has passed, so that the stream stays as
// short, and as warm, as its followers allow; then, where none is free, those that only
// followers which do not gate still want. Under mu.
func (s *Stream) reclaim(now int64) {
	current := s.current.Load().number.Load()
	passed := current
	for _, f := range s.mu.followers {
		passed = min(passed, f.word.Load()>>1)
	}
	s.retire(passed, now)
	s.settle()
	if len(s.mu.free) == 0 {
		s.lap(now, current)
	}
	switch {
	case len(s.mu.free) == 0:
		s.press(now, current)
	case s.mu.pressed:
		s.mu.pressed = false
		for _, f := range s.mu.followers {
			f.since.Store(0)
		}
	}
}

// lap frees blocks of followers that do not gate. Where it meets blocks that somebody is
// reading, it goes on to the next. Under mu.
func (s *Stream) lap(now int64, current uint64) {
	gate, head := current, s.head.Load()
	for _, f := range s.mu.followers {
		if at := f.word.Load() >> 1; at < gate && f.gates(now, at, head) {
			gate = at
		}
	}
	for len(s.mu.free) == 0 && head < gate {
		to := min(gate, head+uint64(len(s.blocks)/8)+1)
		s.mu.stats.Lapped += to - head
		s.retire(to, now)
		head = to
	}
}

// press starts the clocks of those followers that hold the stream back and have only so
// much patience. Under mu.
func (s *Stream) press(now int64, current uint64) {
	for _, f := range s.mu.followers {
		if f.patience > 0 && f.word.Load()>>1 < current && f.since.Load() == 0 {
			f.since.Store(now)
			s.mu.pressed = true
		}
	}
}

// retire takes the blocks before number out of the stream. Those in which somebody may
// still write or read are set aside. Under mu.
func (s *Stream) retire(number uint64, now int64) {
	head := s.head.Load()
	if number <= head {
		return
	}
	invariant.Yield()
	s.head.Store(number) // pairs(hazard): before the followers' words are read
	invariant.Yield()
	pinned := s.mu.pinned[:0]
	for _, f := range s.mu.followers {
		if w := f.word.Load(); w&reading != 0 && w>>1 < number {
			pinned = append(pinned, w>>1)
		}
	}
	s.mu.pinned = pinned
	for ; head < number; head++ {
		b := s.at(head)
		if b.answered() && !slices.Contains(pinned, head) {
			s.recycle(b)
			continue
		}
		b.aside = now
		s.mu.aside = append(s.mu.aside, b)
	}
}

// settle frees what was set aside and is wanted no more, and reports whether there was any.
// Under mu.
func (s *Stream) settle() bool {
	before := len(s.mu.aside)
	if before == 0 {
		return false
	}
	s.mu.aside = slices.DeleteFunc(s.mu.aside, func(b *Block) bool {
		if !b.answered() {
			return false
		}
		for _, f := range s.mu.followers {
			if f.word.Load() == b.number.Load()<<1|reading {
				return false
			}
		}
		s.recycle(b)
		return true
	})
	return len(s.mu.aside) < before
}

// recycle makes a block free. Under mu.
func (s *Stream) recycle(b *Block) {
	b.recycle()
	s.mu.free = append(s.mu.free, b)
}

// Sweep expires the claims that followers have been waiting for, or that keep a block set
// aside, for longer than ClaimTimeout. Call it every now and then, from one goroutine, with
// the time in nanoseconds since the Unix epoch; it answers how many claims it expired.
func (s *Stream) Sweep(now int64) (expired uint64) {
	expired, freed := s.sweep(now)
	if expired > 0 {
		s.readers.Wake()
	}
	if freed {
		s.space.Wake()
	}
	return expired
}

func (s *Stream) sweep(now int64) (expired uint64, freed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	timeout := int64(s.config.ClaimTimeout)
	for _, f := range s.mu.followers {
		expired += f.sweep(now, timeout)
	}
	for _, b := range s.mu.aside {
		if now-b.aside >= timeout {
			expired += b.expire(b.claims())
		}
	}
	s.mu.stats.Expired += expired
	return expired, s.settle()
}

// sweep expires claims that the follower has been waiting for since long. Under Stream.mu.
func (f *Follower) sweep(now, timeout int64) uint64 {
	s, cursor := f.stream, f.cursor.Load()
	number := max(f.word.Load()>>1, s.head.Load())
	current := s.current.Load().number.Load()
	var b *Block
	for ; number <= current; number++ {
		if b = s.at(number); cursor < b.base.Load()+uint64(b.claims()) {
			break
		}
	}
	if number > current || cursor < b.base.Load() ||
		b.index[cursor-b.base.Load()].Load() != stateOpen {
		f.stuck.since = 0
		return 0
	}
	if f.stuck.since == 0 || f.stuck.cursor != cursor {
		f.stuck.cursor, f.stuck.claims, f.stuck.since = cursor, b.claims(), now
		return 0
	}
	if now-f.stuck.since < timeout {
		return 0
	}
	f.stuck.since = 0
	return b.expire(f.stuck.claims)
}
