package ceiling

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/perf/usage"
	"github.com/fantail-io/fantail/perf/worker"
)

// Run measures once.
func Run(ctx context.Context, c Config) (Result, error) {
	whole := c.WriteBytes == 0
	c, err := c.withDefaults()
	if err != nil {
		return Result{}, err
	}
	var listen net.ListenConfig
	listen.SetMultipathTCP(false)
	l, err := listen.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return Result{}, fmt.Errorf("ceiling: %w", err)
	}
	defer l.Close()
	child, err := worker.Start(ReaderJob,
		readerConfig{Address: l.Addr().String(), Sockets: c.Subscribers}, worker.Options{})
	if err != nil {
		return Result{}, err
	}
	defer child.Close()
	w, err := accept(ctx, l.(*net.TCPListener), child, c.Subscribers)
	if err != nil {
		return Result{}, err
	}
	defer w.close()
	if whole {
		c.WriteBytes = w.wholeSegments(c.WriteBytes)
	}
	w.limit = c.WriteBytes
	w.buffer, w.period = c.buffer()
	before := usage.Now()
	if err := w.run(ctx, c.Duration); err != nil {
		return Result{}, err
	}
	w.close() // the readers see the end
	var read readerResult
	if err := child.Result(ctx, &read); err != nil {
		return Result{}, err
	}
	r := Result{Subscribers: c.Subscribers, PayloadBytes: c.PayloadBytes,
		WriteBytes: c.WriteBytes, Seconds: read.Seconds, Bytes: read.Bytes, Reads: read.Reads,
		Deliveries: float64(read.Bytes) / float64(c.frameBytes()), Writes: w.writes,
		Full: w.full, Waits: w.waits, Server: usage.Now().Since(before), Readers: read.Usage}
	if read.Seconds > 0 {
		r.PerSecond = r.Deliveries / read.Seconds
	}
	return r, nil
}

// accept takes the readers' connections off the runtime's poller, onto w.
func accept(ctx context.Context, l *net.TCPListener, child *worker.Process, sockets int) (
	*writer, error) {
	if err := l.SetDeadline(time.Now().Add(connectTimeout)); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { l.Close() })()
	w := &writer{}
	for range sockets {
		conn, err := l.AcceptTCP()
		if err != nil {
			w.close()
			return nil, fmt.Errorf("ceiling: accept: %w", err)
		}
		f, err := conn.File() // a descriptor of our own: see the package comment
		conn.Close()
		if err != nil {
			w.close()
			return nil, fmt.Errorf("ceiling: %w", err)
		}
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		f.Close()
		if err != nil {
			w.close()
			return nil, fmt.Errorf("ceiling: %w", err)
		}
		w.targets = append(w.targets, target{fd: fd})
		if err := unix.SetNonblock(fd, true); err != nil {
			w.close()
			return nil, fmt.Errorf("ceiling: %w", err)
		}
	}
	ready, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := child.Ready(ready, nil); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// target is one socket.
type target struct {
	fd       int
	position int // in the buffer, below period
}

// writer writes one buffer to many sockets, from one thread.
type writer struct {
	targets []target
	buffer  []byte
	period  int
	limit   int
	open    []int // targets with room, by index
	set     int   // of epoll

	writes, full, waits uint64
}

// wholeSegments is the most bytes of whole segments that fit limit.
func (w *writer) wholeSegments(limit int) int {
	info, err := unix.GetsockoptTCPInfo(w.targets[0].fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil || info.Snd_mss == 0 {
		return limit
	}
	if n := limit - limit%int(info.Snd_mss); n > 0 {
		return n
	}
	return limit
}

// slice is how many rounds the writer works between two looks at the clock.
const slice = 16

// run writes as fast as the sockets take it, for a time.
func (w *writer) run(ctx context.Context, duration time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	if w.set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("ceiling: epoll: %w", err)
	}
	defer unix.Close(w.set)
	for i := range w.targets {
		w.open = append(w.open, i)
		event := unix.EpollEvent{Events: unix.EPOLLOUT | unix.EPOLLET, Fd: int32(i)}
		if err := unix.EpollCtl(w.set, unix.EPOLL_CTL_ADD, w.targets[i].fd, &event); err != nil {
			return fmt.Errorf("ceiling: epoll: %w", err)
		}
	}
	if err := w.poll(0); err != nil { // the first edges
		return err
	}
	end := time.Now().Add(duration)
	for turn := 0; ; turn++ {
		if turn%slice == 0 && (time.Now().After(end) || ctx.Err() != nil) {
			return ctx.Err()
		}
		if err := w.round(); err != nil {
			return err
		}
		switch {
		case len(w.open) == 0:
			err = w.poll(100)
		case len(w.open) < len(w.targets):
			err = w.poll(0)
		}
		if err != nil {
			return err
		}
	}
}

// round offers one write to every socket that has room.
func (w *writer) round() error {
	kept := w.open[:0]
	for _, i := range w.open {
		t := &w.targets[i]
		n, err := unix.Write(t.fd, w.buffer[t.position:t.position+w.limit])
		w.writes++
		if err != nil && err != unix.EAGAIN && err != unix.EINTR {
			return fmt.Errorf("ceiling: write: %w", err)
		}
		if n > 0 {
			if t.position += n; t.position >= w.period {
				t.position %= w.period
			}
		}
		if n < w.limit && err != unix.EINTR {
			w.full++
			continue // until epoll says that there is room
		}
		kept = append(kept, i)
	}
	w.open = kept
	return nil
}

// poll opens the targets that have room again.
func (w *writer) poll(milliseconds int) error {
	var events [128]unix.EpollEvent
	n, err := unix.EpollWait(w.set, events[:], milliseconds)
	if err != nil && err != unix.EINTR {
		return fmt.Errorf("ceiling: epoll: %w", err)
	}
	w.waits++
	for _, e := range events[:max(n, 0)] {
		if e.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			return errors.New("ceiling: a reader has gone")
		}
		if len(w.open) < len(w.targets) {
			w.open = append(w.open, int(e.Fd))
		}
	}
	return nil
}

// close closes what is open.
func (w *writer) close() {
	for i := range w.targets {
		if t := &w.targets[i]; t.fd > 0 {
			unix.Close(t.fd)
			t.fd = 0
		}
	}
}
