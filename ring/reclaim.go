package ring

import (
	"runtime"
	"slices"
	"time"
)

// roll replaces full, the block that its caller found full, by a fresh one. A nil error
// means: look again.
func (s *Stream) roll(full *Block) error {
	if s.closed.Load() {
		return ErrClosed
	}
	s.mu.Lock()
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
	s.reclaim(time.Now().UnixNano())
	if len(s.mu.free) == 0 {
		s.mu.stats.BackPressure++
		s.mu.Unlock()
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
	s.mu.stats.Rolls++
}

// reclaim frees blocks. First those that everybody has passed, so that the stream stays as
// short, and as warm, as its followers allow; then, where none is free, those that only
// followers which do not gate still want. Under mu.
func (s *Stream) reclaim(now int64) {
	current := s.current.Load().number.Load()
	passed, gate := current, current
	for _, f := range s.mu.followers {
		at := f.word.Load() >> 1
		passed = min(passed, at)
		if f.gates(now, at, current) {
			gate = min(gate, at)
		}
	}
	s.retire(passed, now)
	s.settle()
	if head := s.head.Load(); len(s.mu.free) == 0 && gate > head {
		to := min(gate, head+uint64(len(s.blocks)/8)+1)
		s.mu.stats.Lapped += to - head
		s.retire(to, now)
	}
}

// retire takes the blocks before number out of the stream. Those in which somebody may
// still write or read are set aside. Under mu.
func (s *Stream) retire(number uint64, now int64) {
	head := s.head.Load()
	if number <= head {
		return
	}
	s.head.Store(number) // pairs(hazard): before the followers' words are read
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

// settle frees what was set aside and is wanted no more. Under mu.
func (s *Stream) settle() {
	if len(s.mu.aside) == 0 {
		return
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
}

// recycle makes a block free. Under mu.
func (s *Stream) recycle(b *Block) {
	clear(b.index[:b.claims()])
	s.mu.free = append(s.mu.free, b)
}

// Sweep expires the claims that followers have been waiting for, or that keep a block set
// aside, for longer than ClaimTimeout. Call it every now and then, from one goroutine, with
// the time in nanoseconds since the Unix epoch; it answers how many claims it expired.
func (s *Stream) Sweep(now int64) (expired uint64) {
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
	s.settle()
	s.mu.stats.Expired += expired
	if expired > 0 {
		s.readers.Wake()
	}
	return expired
}
