//go:build linux && !race

package arena

import (
	"os"

	"golang.org/x/sys/unix"
)

// memory is an anonymous private mapping.
type memory struct{ bytes []byte }

// mapMemory maps and touches size bytes: the first touch of a page costs microseconds, and
// belongs at start-up. MADV_HUGEPAGE is advice; refusing it changes nothing but the time
// that the touching takes.
func mapMemory(size int) (memory, error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return memory{}, err
	}
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	for i := 0; i < size; i += os.Getpagesize() {
		b[i] = 0
	}
	return memory{bytes: b}, nil
}

func (m memory) unmap() error { return unix.Munmap(m.bytes) }
