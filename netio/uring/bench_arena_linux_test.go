package uring

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// arena is the memory that is sent: a stream of blocks that goes round. Movers that lend
// its pages to the kernel have each block's replaced before it is written again, since
// nothing tells when the kernel, or a receiver on the same machine, has done with them.
type arena struct {
	b         testing.TB
	fd        int // of memory that is a file; -1: it is none
	bytes     []byte
	source    []byte
	lend      bool
	published int64
}

func newArena(b testing.TB, by string) *arena {
	a := &arena{b: b, fd: -1, lend: strings.HasSuffix(by, "-lend"), source: make([]byte, blockBytes)}
	for i := range a.source {
		a.source[i] = byte(i)
	}
	flags := unix.MAP_ANON | unix.MAP_PRIVATE
	if strings.HasPrefix(by, "sendfile") {
		var err error
		if a.fd, err = unix.MemfdCreate("arena", unix.MFD_CLOEXEC); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { unix.Close(a.fd) })
		if err := unix.Ftruncate(a.fd, arenaBytes); err != nil {
			b.Fatal(err)
		}
		flags = unix.MAP_SHARED
	}
	bytes, err := unix.Mmap(a.fd, 0, arenaBytes, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { unix.Munmap(bytes) })
	if a.fd < 0 {
		_ = unix.Madvise(bytes, unix.MADV_HUGEPAGE) // advice
	}
	a.bytes = bytes
	for at := 0; at < arenaBytes; at += blockBytes {
		copy(bytes[at:], a.source)
	}
	a.published = arenaBytes
	return a
}

// publish writes what is before a place in the stream.
func (a *arena) publish(to int64) {
	for a.published < to {
		at := a.published % arenaBytes
		block := a.bytes[at : at+blockBytes]
		if a.lend {
			a.renew(at, block)
		}
		copy(block, a.source)
		a.published += blockBytes
	}
}

// renew gives a block other pages. Those that it had live on for whoever still reads them.
func (a *arena) renew(at int64, block []byte) {
	var err error
	if a.fd >= 0 {
		err = unix.Fallocate(a.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, at, blockBytes)
	} else {
		err = unix.Madvise(block, unix.MADV_DONTNEED)
	}
	if err != nil {
		a.b.Fatal(err)
	}
}
