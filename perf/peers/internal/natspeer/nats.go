// Package natspeer is NATS as a peer: nats-server embedded in the broker's process, nats.go
// at both ends.
//
// Fairness. Subscribers are nats.go's asynchronous callbacks, one connection each, as its
// users write them, with the client's pending limits lifted so that nothing is dropped. The
// server keeps its defaults, but for the time that a write may take. The publisher is
// another process, connected over TCP (nats), or one in the server's own process, connected
// as nats.go does it there (nats-embedded).
//
// Not here: JetStream; nothing is stored.
package natspeer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
)

// The names of this package's peers.
const (
	Name         = "nats"
	NameEmbedded = "nats-embedded"
)

const startTimeout = 10 * time.Second

// Peer is NATS. Its publisher is a process of its own, or part of the server's.
type Peer struct{ Embedded bool }

// Name is nats or nats-embedded.
func (p Peer) Name() string {
	if p.Embedded {
		return NameEmbedded
	}
	return Name
}

// Check is always content: the server is linked in.
func (p Peer) Check(context.Context) (string, error) {
	return fmt.Sprintf("nats-server %s, nats.go %s", server.VERSION, nats.Version), nil
}

// StartBroker starts nats-server.
func (p Peer) StartBroker(ctx context.Context, w load.Workload) (peer.Broker, error) {
	return peer.StartGo(ctx, p.Name(), w)
}

// Subscribers are nats.go connections.
func (p Peer) Subscribers(address string, w load.Workload) child.Command {
	return peer.GoSubscribers(p.Name(), address, w)
}

// Publisher is a nats.go connection.
func (p Peer) Publisher(address string, w load.Workload) child.Command {
	return peer.GoPublisher(p.Name(), address, w)
}

// Driver is what runs in the children.
func (p Peer) Driver() peer.Driver {
	return peer.Driver{Subscribe: subscribe, Publish: publish,
		Serve: func(context.Context, load.Workload) (peer.Server, error) {
			return serve(p.Embedded)
		}}
}

type broker struct {
	*server.Server
	publisher load.Publisher
}

func serve(embedded bool) (peer.Server, error) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoSigs: true, NoLog: true, WriteDeadline: time.Minute})
	if err != nil {
		return nil, fmt.Errorf("natspeer: %w", err)
	}
	s.Start()
	b := &broker{Server: s}
	if !s.ReadyForConnections(startTimeout) {
		_ = b.Close()
		return nil, errors.New("natspeer: the server does not start")
	}
	if embedded {
		if b.publisher, err = connect("", nats.InProcessServer(s)); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return b, nil
}

// Address is the server's URL.
func (b *broker) Address() string { return b.ClientURL() }

// Publisher is the one in this process, or nil.
func (b *broker) Publisher() load.Publisher { return b.publisher }

// Close stops the server.
func (b *broker) Close() error {
	b.Shutdown()
	b.WaitForShutdown()
	return nil
}

// subscribers are the connections of all subscribers.
type subscribers struct {
	conns []*nats.Conn
	open  sync.WaitGroup // subscriptions whose callbacks may still be called
}

func subscribe(ctx context.Context, address string, meters []*load.Meter) (io.Closer, error) {
	s := &subscribers{}
	for _, m := range meters {
		if err := s.add(ctx, address, m); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

func (s *subscribers) add(ctx context.Context, address string, m *load.Meter) error {
	nc, err := nats.Connect(address, nats.NoReconnect())
	if err != nil {
		return fmt.Errorf("natspeer: %w", err)
	}
	s.conns = append(s.conns, nc)
	sub, err := nc.Subscribe(load.Topic, func(msg *nats.Msg) { m.Take(msg.Data) })
	if err != nil {
		return fmt.Errorf("natspeer: %w", err)
	}
	s.open.Add(1)
	sub.SetClosedHandler(func(string) { s.open.Done() })
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return fmt.Errorf("natspeer: %w", err)
	}
	return flush(ctx, nc)
}

// Close closes the connections and waits for their callbacks.
func (s *subscribers) Close() error {
	for _, nc := range s.conns {
		nc.Close()
	}
	s.open.Wait()
	return nil
}

type publisher struct{ nc *nats.Conn }

func publish(_ context.Context, address string, _ load.Workload) (load.Publisher, error) {
	return connect(address)
}

func connect(address string, o ...nats.Option) (load.Publisher, error) {
	nc, err := nats.Connect(address, append(o, nats.NoReconnect())...)
	if err != nil {
		return nil, fmt.Errorf("natspeer: %w", err)
	}
	return &publisher{nc: nc}, nil
}

// Publish copies b into the connection's buffer, which nats.go flushes by itself.
func (p *publisher) Publish(_ context.Context, b []byte) error {
	return p.nc.Publish(load.Topic, b)
}

// Send has nothing to do.
func (p *publisher) Send(context.Context) error { return nil }

// Finish waits for the server's PONG.
func (p *publisher) Finish(ctx context.Context) error { return flush(ctx, p.nc) }

// Close closes the connection.
func (p *publisher) Close() error {
	p.nc.Close()
	return nil
}

// flush waits for the server's PONG. nats.go insists on a deadline, which is never reached:
// ctx ends with the measurement.
func flush(ctx context.Context, nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	if err := nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("natspeer: flush: %w", err)
	}
	return nil
}
