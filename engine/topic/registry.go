package topic

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrTooManyTopics says that a Registry has as many topics as it takes.
var ErrTooManyTopics = errors.New("topic: too many topics")

// Registry gives names numbers, from 1 and without holes, in the order of their first
// Intern; 0 is no topic. Numbers are never given back. Any goroutine may use it.
type Registry struct {
	// chunks has room for every name that there may be; its elements are made as they are
	// needed, and never move, so that Name takes no lock.
	chunks []*[chunkNames]string
	count  atomic.Uint32 // names written
	max    uint32
	mu     struct {
		sync.RWMutex
		numbers map[string]uint32
	}
}

// NewRegistry makes a registry of at most maxTopics topics. Zero, or less: DefaultMaxTopics;
// more than MaxTopics is MaxTopics. A topic costs its name and about 60 bytes.
func NewRegistry(maxTopics int) *Registry {
	if maxTopics <= 0 {
		maxTopics = DefaultMaxTopics
	}
	maxTopics = min(maxTopics, MaxTopics)
	r := &Registry{max: uint32(maxTopics)}
	r.chunks = make([]*[chunkNames]string, (maxTopics+chunkNames-1)/chunkNames)
	r.mu.numbers = make(map[string]uint32)
	return r
}

// Intern answers the number of a name, and gives it one where it has none. The error is a
// *NameError, or ErrTooManyTopics.
func (r *Registry) Intern(name string) (uint32, error) {
	if number, ok := r.Lookup(name); ok {
		return number, nil
	}
	if err := CheckName(name); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if number, ok := r.mu.numbers[name]; ok {
		return number, nil
	}
	n := r.count.Load()
	if n == r.max {
		return 0, ErrTooManyTopics
	}
	chunk := r.chunks[n/chunkNames]
	if chunk == nil {
		chunk = new([chunkNames]string)
		r.chunks[n/chunkNames] = chunk
	}
	name = strings.Clone(name) // it may be a piece of something large
	chunk[n%chunkNames] = name
	r.mu.numbers[name] = n + 1
	r.count.Store(n + 1) // pairs(count): publishes the chunk and the name in it
	return n + 1, nil
}

// Lookup answers the number of a name that has one.
func (r *Registry) Lookup(name string) (uint32, bool) {
	r.mu.RLock()
	number, ok := r.mu.numbers[name]
	r.mu.RUnlock()
	return number, ok
}

// Name is the name of a topic; empty where no topic has that number. It takes no lock and
// allocates nothing.
func (r *Registry) Name(number uint32) string {
	at := number - 1
	if at >= r.count.Load() { // pairs(count); and number 0 is far beyond it
		return ""
	}
	return r.chunks[at/chunkNames][at%chunkNames]
}

// Len is how many topics there are; it is also the highest number.
func (r *Registry) Len() int { return int(r.count.Load()) }
