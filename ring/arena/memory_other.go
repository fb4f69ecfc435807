//go:build !linux || race

package arena

// memory comes from the Go heap, where the race detector sees it.
type memory struct{ bytes []byte }

func mapMemory(size int) (memory, error) { return memory{bytes: make([]byte, size)}, nil }

func (m memory) unmap() error { return nil }
