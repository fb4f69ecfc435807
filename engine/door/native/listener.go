package native

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/engine/topic"
	"github.com/fantail-io/fantail/netio"
	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/counter"
)

// Listener is an open door.
type Listener struct {
	engine  *engine.Engine
	config  Config
	log     *slog.Logger
	ln      net.Listener
	shards  []*shard
	accepts sync.WaitGroup
	closed  atomic.Bool
	closing chan struct{} // closed by Close
	mu      struct {
		sync.Mutex
		addresses map[string]int // open connections
		open      int
		accepted  uint64
		retries   uint64 // of accept, after an error that passes
		rejected  map[native.Code]uint64
	}
}

// shard is a netio.Shard and what this protocol keeps for it, all on its goroutine.
type shard struct {
	netio    *netio.Shard
	stream   *ring.Stream
	routes   *topic.Routes[*netio.Conn]
	sessions map[*netio.Conn]*session

	_              counter.Pad
	published      counter.Counter
	publishedBytes counter.Counter
	refused        counter.Counter // PUBLISH frames that met back pressure
	_              counter.Pad
}

// Listen opens a door of e at an address, such as 127.0.0.1:7400; network is tcp, tcp4 or
// tcp6. An address without a host is loopback: name an interface, or 0.0.0.0, to be
// reachable from elsewhere.
func Listen(e *engine.Engine, network, address string, c Config) (*Listener, error) {
	c, err := c.withDefaults(max(1, runtime.NumCPU()/2), e.MaxPayload())
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("native: listen: %w", err)
	}
	if host == "" {
		address = net.JoinHostPort("127.0.0.1", port)
	}
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // accepted sockets of MPTCP lack features of TCP's
	ln, err := lc.Listen(context.Background(), network, address)
	if err != nil {
		return nil, fmt.Errorf("native: %w", err)
	}
	l := &Listener{engine: e, config: c, log: slog.Default(), ln: ln,
		closing: make(chan struct{})}
	l.mu.addresses = make(map[string]int)
	l.mu.rejected = make(map[native.Code]uint64)
	if err := l.start(); err != nil {
		ln.Close()
		l.stop()
		return nil, err
	}
	return l, nil
}

func (l *Listener) start() error {
	for i := range l.config.Shards {
		s := &shard{stream: l.engine.Stream(), sessions: make(map[*netio.Conn]*session)}
		s.routes = topic.NewRoutes[*netio.Conn](l.engine.Topics())
		s.routes.OnResolve = func(number uint32, c *netio.Conn) { s.sessions[c].name(number) }
		config := l.config.shardConfig(i, l.engine.Stream())
		config.Route = func(number uint32) []*netio.Conn { return s.routes.Set(number).Members() }
		var err error
		if s.netio, err = netio.StartShard(config); err != nil {
			return fmt.Errorf("native: shard %d: %w", i, err)
		}
		l.shards = append(l.shards, s)
	}
	if err := l.engine.AddDoor(l); err != nil {
		return err
	}
	l.accepts.Go(l.accept)
	return nil
}

// Addr is where the door listens.
func (l *Listener) Addr() net.Addr { return l.ln.Addr() }

// accept takes connections until the listener is closed. An error that passes, such as
// running out of descriptors, is waited out: 10 ms, doubled up to 1 s.
func (l *Listener) accept() {
	delay := time.Duration(0)
	for turn := 0; ; turn++ {
		nc, err := l.ln.Accept()
		if err == nil {
			err = l.admit(nc, l.shards[turn%len(l.shards)])
		}
		switch {
		case err == nil:
			delay = 0
		case errors.Is(err, net.ErrClosed):
			return
		default:
			if delay == 0 {
				l.log.Warn("native: accept", "error", err)
			}
			l.mu.Lock()
			l.mu.retries++
			l.mu.Unlock()
			delay = min(max(2*delay, 10*time.Millisecond), time.Second)
			select {
			case <-time.After(delay):
			case <-l.closing:
			}
		}
	}
}

// admit hands a connection to a shard, or refuses it. The error is the machine's.
func (l *Listener) admit(nc net.Conn, s *shard) error {
	address := nc.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	if err := l.enter(address); err != nil {
		l.reject(err.Code)
		// A new connection's empty send buffer has room for this, so it does not wait.
		_ = nc.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		_, _ = nc.Write(native.AppendError(nil, err))
		nc.Close()
		return nil
	}
	netio.Tune(nc, l.config.IdleTimeout, l.config.HeartbeatEvery)
	err := s.netio.Adopt(nc, func(c *netio.Conn) netio.Session {
		now := l.engine.Now()
		session := &session{listener: l, shard: s, conn: c, address: address, opened: now, heard: now}
		s.sessions[c] = session
		return session
	})
	if err != nil {
		nc.Close()
		l.left(address)
	}
	return err
}

// enter counts a connection in, where there is room for it.
func (l *Listener) enter(address string) *native.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.mu.open >= l.config.MaxConnections:
		return native.Errorf(native.CodeTooManyConnections, "the limit is %d",
			l.config.MaxConnections)
	case l.mu.addresses[address] >= l.config.MaxPerAddress:
		return native.Errorf(native.CodeTooManyConnections, "the limit is %d an address",
			l.config.MaxPerAddress)
	}
	l.mu.open++
	l.mu.accepted++
	l.mu.addresses[address]++
	return nil
}

// left counts a connection out.
func (l *Listener) left(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.open--
	if l.mu.addresses[address]--; l.mu.addresses[address] == 0 {
		delete(l.mu.addresses, address)
	}
}

// reject counts a session that ended for a reason of the protocol.
func (l *Listener) reject(code native.Code) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.rejected[code]++
}

// UndeliveredError says what a door could not deliver before it closed. It Is the error of
// Close's context.
type UndeliveredError struct {
	Connections int    // that had messages queued
	Messages    uint64 // queued for them
	cause       error
}

func (e *UndeliveredError) Error() string {
	return fmt.Sprintf("native: closed (%v) with %d messages queued for %d connections",
		e.cause, e.Messages, e.Connections)
}

func (e *UndeliveredError) Unwrap() error { return e.cause }

// Close takes no more connections, waits until everything published so far is handed to the
// kernel or ctx is done, says goodbye, and ends every session. The error, if any, is an
// *UndeliveredError. It is idempotent.
func (l *Listener) Close(ctx context.Context) error {
	if l.closed.Swap(true) {
		return nil
	}
	close(l.closing)
	l.engine.RemoveDoor(l)
	l.ln.Close()
	l.accepts.Wait()
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.config.DrainTimeout)
		defer cancel()
	}
	var failed *UndeliveredError
	for _, s := range l.shards {
		if err := s.netio.Drain(ctx); err != nil {
			if failed == nil {
				failed = &UndeliveredError{cause: err}
			}
			if st, err := s.netio.Snapshot(); err == nil {
				for _, c := range st.Conns {
					if c.Lag > 0 {
						failed.Connections++
						failed.Messages += c.Lag
					}
				}
			}
		}
	}
	l.stop()
	if failed != nil {
		return failed
	}
	return nil
}

// stop says goodbye and ends the shards.
func (l *Listener) stop() {
	for _, s := range l.shards {
		_ = s.netio.Do(func() {
			for c := range s.sessions {
				c.Stage(func(dst []byte) []byte {
					return native.AppendGoodbye(dst, native.Goodbye{Reason: native.CodeShuttingDown})
				})
			}
		})
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		_ = s.netio.Drain(ctx)
		cancel()
		_ = s.netio.Close()
	}
}

// SetLogger makes the door log to log instead of slog.Default. Call it before there are
// connections.
func (l *Listener) SetLogger(log *slog.Logger) { l.log = log }

// Snapshot is a door's figures at one moment.
type Snapshot struct {
	Shards         []netio.ShardStats
	Open           int               // connections
	Accepted       uint64            // connections, ever
	AcceptRetries  uint64            // accept errors that passed
	Rejected       map[string]uint64 // sessions ended for a reason of the protocol, by reason
	Published      uint64            // messages that came in
	PublishedBytes uint64            // of payload
	Refused        uint64            // times that a PUBLISH met back pressure
}

// Snapshot answers the door's figures. It asks the shards, between two of their turns.
func (l *Listener) Snapshot() Snapshot {
	var st Snapshot
	for _, s := range l.shards {
		if one, err := s.netio.Snapshot(); err == nil {
			st.Shards = append(st.Shards, one)
		}
		st.Published += s.published.Load()
		st.PublishedBytes += s.publishedBytes.Load()
		st.Refused += s.refused.Load()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	st.Open, st.Accepted, st.AcceptRetries = l.mu.open, l.mu.accepted, l.mu.retries
	st.Rejected = make(map[string]uint64, len(l.mu.rejected))
	for code, n := range l.mu.rejected {
		st.Rejected[code.String()] = n
	}
	return st
}
