package uring

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

// deliveryBytes is a delivery: a header of 32 bytes and a payload of 500, padded to 8.
const deliveryBytes = 536

// BenchmarkSend moves bytes of one shared buffer into loopback connections that another
// process reads and discards, and reports for one delivery of 536 bytes: the wall-clock
// time (ns/op), this process's CPU time with that of io_uring's kernel thread, which is a
// thread of this process (cpu-ns/delivery), system calls, and the bytes that a send took.
//
//	go test -run '^$' -bench 'Send/subs=64' -benchtime 10000000x ./netio/uring
func BenchmarkSend(b *testing.B) {
	for _, subs := range []int{1, 2, 3, 4, 64} {
		for _, size := range []int{deliveryBytes, 8 << 10, 64 << 10, 128 << 10} {
			for _, by := range moverNames {
				b.Run(fmt.Sprintf("subs=%d/size=%d/by=%s", subs, size, by), func(b *testing.B) {
					benchmarkSend(b, by, subs, size)
				})
			}
		}
	}
}

const (
	// arenaBytes is a stream of the default size.
	arenaBytes = 16 << 20
	// blockBytes is what is published at once: written for the first connection to get there.
	blockBytes = 2 << 20
)

func benchmarkSend(b *testing.B, by string, subs, size int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	arena := newArena(b, by)
	fds, reader := startReader(b, subs)
	m := newMover(b, by, fds, arena)
	defer m.release()
	d := newDriver(b, m, fds, size, arena)
	d.run(int64(subs) * 1 << 20) // windows and buffers have grown
	b.ReportAllocs()
	before, reads, calls := cpuTime(), readerTime(b, reader), m.systemCalls()
	all, start := machineTime(b), time.Now()
	d.bytes, d.sends, d.short = 0, 0, 0
	b.ResetTimer()
	d.run(int64(b.N) * deliveryBytes)
	b.StopTimer()
	elapsed, all := time.Since(start), machineTime(b)-all
	used, reads := cpuTime()-before, readerTime(b, reader)-reads
	deliveries := float64(d.bytes) / deliveryBytes
	b.ReportMetric(float64(used)/deliveries, "cpu-ns/delivery")
	b.ReportMetric(float64(reads)/deliveries, "reader-ns/delivery")
	b.ReportMetric(float64(m.systemCalls()-calls)/deliveries, "calls/delivery")
	b.ReportMetric(float64(d.bytes)/float64(d.sends), "B/send")
	b.ReportMetric(float64(d.short)/float64(d.sends), "short/send")
	// What others used meanwhile, of one core. Figures with much of it are to be doubted.
	b.ReportMetric(max(0, 100*float64(all-used-reads)/float64(elapsed)), "foreign-%")
}

// cpuTime is what all threads of this process used, in nanoseconds.
func cpuTime() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// driver keeps a mover busy, as a shard does.
type driver struct {
	b        testing.TB
	m        mover
	size     int
	bytes    int64
	sends    int64
	short    int64
	set      int
	events   []sys.EpollEvent
	socks    []sock
	idle     int // may be queued
	blocked  int // wait for room
	arena    *arena
	onResult func(slot, n int, err error)
}

type sock struct {
	at      int64 // in the stream
	left    int   // of the piece under way
	blocked bool
	busy    bool // queued, or in the kernel
}

func newDriver(b testing.TB, m mover, fds []int, size int, arena *arena) *driver {
	set, err := sys.EpollCreate()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { sys.Close(set) })
	d := &driver{b: b, m: m, size: size, set: set, arena: arena, idle: len(fds),
		events: make([]sys.EpollEvent, len(fds)), socks: make([]sock, len(fds))}
	for i, fd := range fds {
		d.socks[i].left = size
		err := sys.EpollCtl(set, sys.EpollAdd, fd,
			&sys.EpollEvent{Events: sys.EpollOut | sys.EpollEdge, Fd: int32(i)})
		if err != nil {
			b.Fatal(err)
		}
	}
	d.onResult = d.result
	return d
}

func (d *driver) result(slot, n int, err error) {
	if err != nil {
		d.b.Fatal(err)
	}
	s := &d.socks[slot]
	s.busy = false
	d.sends++
	d.bytes += int64(n)
	s.at += int64(n)
	if s.left -= n; s.left > 0 {
		d.short++
		s.blocked = true
		d.blocked++
		return
	}
	d.idle++
	s.left = min(d.size, arenaBytes-int(s.at%arenaBytes))
}

// run sends for bytes more. No send is under way afterwards.
func (d *driver) run(bytes int64) {
	end := d.bytes + bytes
	for {
		if d.idle > 0 && d.bytes < end {
			for i := range d.socks {
				if s := &d.socks[i]; !s.blocked && !s.busy {
					s.busy = true
					d.idle--
					d.arena.publish(s.at + int64(s.left))
					d.m.queue(i, int(s.at%arenaBytes), s.left)
				}
			}
		}
		flying := d.m.flush(d.onResult)
		if flying == 0 && d.bytes >= end {
			return
		}
		if d.blocked > 0 {
			d.unblock(flying)
		}
	}
}

// unblock finds the connections that have room again. It waits where there is nothing else.
func (d *driver) unblock(flying int) {
	wait := sys.EpollPoll
	if d.idle == 0 && flying == 0 {
		wait = func(set int, events []sys.EpollEvent) (int, error) {
			return sys.EpollWait(set, events, -1)
		}
	}
	n, err := wait(d.set, d.events)
	if err != nil {
		d.b.Fatal(err)
	}
	for i := range d.events[:n] {
		if s := &d.socks[d.events[i].Fd]; s.blocked {
			s.blocked = false
			d.blocked--
			d.idle++
		}
	}
}
